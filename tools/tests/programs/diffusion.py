"""Denoising diffusion of points in the plane: a network predicts the noise in them."""

import argparse

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class SinusoidalEmbedding(nn.Module):
    def __init__(self, size, scale=1.0):
        super().__init__()
        self.size = size
        self.scale = scale

    def forward(self, x):
        x = x * self.scale
        half_size = self.size // 2
        emb = torch.log(torch.Tensor([10000.0])) / (half_size - 1)
        emb = torch.exp(-emb * torch.arange(half_size))
        emb = x.unsqueeze(-1) * emb.unsqueeze(0)
        return torch.cat((torch.sin(emb), torch.cos(emb)), dim=-1)

    def __len__(self):
        return self.size


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.ff = nn.Linear(size, size)
        self.act = nn.GELU()

    def forward(self, x):
        return x + self.act(self.ff(x))


class MLP(nn.Module):
    def __init__(self, hidden_size=32, hidden_layers=2, emb_size=16):
        super().__init__()
        self.time_mlp = SinusoidalEmbedding(emb_size)
        self.input_mlp1 = SinusoidalEmbedding(emb_size, scale=25.0)
        self.input_mlp2 = SinusoidalEmbedding(emb_size, scale=25.0)
        concat_size = len(self.time_mlp) + len(self.input_mlp1) + len(self.input_mlp2)
        layers = [nn.Linear(concat_size, hidden_size), nn.GELU()]
        for _ in range(hidden_layers):
            layers.append(Block(hidden_size))
        layers.append(nn.Linear(hidden_size, 2))
        self.joint_mlp = nn.Sequential(*layers)

    def forward(self, x, t):
        x1_emb = self.input_mlp1(x[:, 0])
        x2_emb = self.input_mlp2(x[:, 1])
        t_emb = self.time_mlp(t)
        return self.joint_mlp(torch.cat((x1_emb, x2_emb, t_emb), dim=-1))


class NoiseScheduler:
    def __init__(self, num_timesteps=30, beta_start=0.0001, beta_end=0.3):
        self.num_timesteps = num_timesteps
        self.betas = torch.linspace(beta_start**0.5, beta_end**0.5, num_timesteps) ** 2
        self.alphas = 1.0 - self.betas
        self.alphas_cumprod = torch.cumprod(self.alphas, axis=0)
        self.alphas_cumprod_prev = F.pad(self.alphas_cumprod[:-1], (1, 0), value=1.0)
        # coefficients of the posterior mean of x_{t-1}, given x_0 and x_t
        rest = 1.0 - self.alphas_cumprod
        self.coef1 = self.betas * torch.sqrt(self.alphas_cumprod_prev) / rest
        self.coef2 = (1.0 - self.alphas_cumprod_prev) * torch.sqrt(self.alphas) / rest

    def add_noise(self, x_start, x_noise, timesteps):
        s1 = (self.alphas_cumprod**0.5)[timesteps].reshape(-1, 1)
        s2 = ((1 - self.alphas_cumprod) ** 0.5)[timesteps].reshape(-1, 1)
        return s1 * x_start + s2 * x_noise

    def step(self, output, t, sample, noise):
        start = torch.sqrt(1 / self.alphas_cumprod[t]) * sample
        start = (start - torch.sqrt(1 / self.alphas_cumprod[t] - 1) * output).clamp(-2, 2)
        previous = self.coef1[t] * start + self.coef2[t] * sample
        if t == 0:
            return previous
        before, now = self.alphas_cumprod_prev[t], self.alphas_cumprod[t]
        variance = (self.betas[t] * (1.0 - before) / (1.0 - now)).clip(1e-20)
        return previous + variance**0.5 * noise

    def __len__(self):
        return self.num_timesteps


def swiss_roll(n, rng):
    angle = 1.5 * np.pi * (1 + 2 * rng.random(n))
    points = np.stack((angle * np.cos(angle), angle * np.sin(angle)), axis=1) / 14
    return points + 0.02 * rng.standard_normal((n, 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--out")
    config = parser.parse_args()
    rng = np.random.default_rng(41)

    def normal(*shape):
        return torch.tensor(rng.standard_normal(shape), dtype=torch.float32)

    dataset = TensorDataset(torch.tensor(swiss_roll(512, rng), dtype=torch.float32))
    dataloader = DataLoader(dataset, batch_size=64, shuffle=False, drop_last=True)
    model, noise_scheduler = MLP(), NoiseScheduler()
    for p in model.parameters():
        p.data = normal(*p.shape) / np.sqrt(p.shape[-1]) if p.dim() > 1 else torch.zeros_like(p)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    losses = []
    for epoch in range(config.epochs):
        model.train()
        for (batch,) in dataloader:
            noise = normal(*batch.shape)
            timesteps = torch.from_numpy(rng.integers(0, len(noise_scheduler), len(batch)))
            noisy = noise_scheduler.add_noise(batch, noise, timesteps)
            noise_pred = model(noisy, timesteps)
            loss = F.mse_loss(noise_pred, noise)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach().item())
        print(f"epoch {epoch}: loss {np.mean(losses[-8:]):.4f}")

    model.eval()
    sample = normal(100, 2)
    for t in reversed(range(len(noise_scheduler))):
        with torch.no_grad():
            residual = model(sample, torch.from_numpy(np.repeat(t, 100)).long())
        sample = noise_scheduler.step(residual, t, sample, normal(100, 2))
    print(f"samples have the mean {sample.mean(0).tolist()}, the spread {sample.std(0).tolist()}")
    if config.out:
        np.savez(config.out, loss=losses, sample=sample, prediction=noise_pred.detach().numpy())


if __name__ == "__main__":
    main()
