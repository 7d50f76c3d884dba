"""Two density models of two moons: a normalizing flow and a mixture density network."""

import argparse
import math

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Normal, kl_divergence


def moons(count, rng):
    half = rng.random(count) < 0.5
    angle = np.pi * rng.random(count)
    x = np.where(half, np.cos(angle), 1 - np.cos(angle))
    y = np.where(half, np.sin(angle), 0.5 - np.sin(angle))
    noisy = np.stack([x, y], axis=1) + 0.1 * rng.standard_normal((count, 2))
    return torch.from_numpy(noisy.astype(np.float32))


class Coupling(nn.Module):
    """Scale and shift half of the coordinates by outputs of a network for the others."""

    def __init__(self, mask, hidden=24):
        super().__init__()
        self.register_buffer("mask", torch.tensor(mask, dtype=torch.float32))
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, 4))

    def parts(self, x):
        s, t = self.net(x * self.mask).chunk(2, dim=-1)
        return torch.tanh(s) * (1 - self.mask), t * (1 - self.mask)

    def forward(self, x):
        s, t = self.parts(x)
        return x * s.exp() + t, s.sum(dim=-1)

    def inverse(self, z):
        s, t = self.parts(z)
        return (z - t) * torch.exp(-s)


class Flow(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.layers = nn.ModuleList(Coupling([i % 2, (i + 1) % 2]) for i in range(layers))
        self.register_buffer("loc", torch.zeros(2))

    @property
    def base(self):
        return Normal(self.loc, torch.ones_like(self.loc))

    def log_prob(self, x):
        total = 0
        for layer in self.layers:
            x, logdet = layer(x)
            total = total + logdet
        return self.base.log_prob(x).sum(-1) + total

    def sample(self, z):
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


class MDN(nn.Module):
    """The second coordinate, given the first one, as a mixture of normal distributions."""

    def __init__(self, parts=4, hidden=24):
        super().__init__()
        self.parts = parts
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.GELU(), nn.Linear(hidden, 3 * parts))

    def forward(self, x):
        logits, mu, log_sigma = self.net(x).split(self.parts, dim=1)
        return Categorical(logits=logits), Normal(mu, log_sigma.clamp(min=-5).exp())

    def log_prob(self, x, y):
        pi, normal = self(x)
        return torch.logsumexp(pi.logits + normal.log_prob(y), dim=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(9)
    flow, mdn = Flow(), MDN()
    for module in [*flow.modules(), *mdn.modules()]:
        if isinstance(module, nn.Linear):
            scale = math.sqrt(1.0 / module.in_features)
            module.weight.data = torch.Tensor(scale * rng.standard_normal(module.weight.shape))
            module.bias.data.fill_(0.0)
    # one optimizer for both, with different learning rates
    optimizer = torch.optim.Adamax(
        [{"params": flow.parameters()}, {"params": mdn.parameters(), "lr": 2e-2}], lr=1e-2
    )
    history = {"flow": [], "mdn": []}
    for step in range(args.steps):
        x = moons(128, rng)
        flow_loss = -flow.log_prob(x).mean()
        mdn_loss = -mdn.log_prob(x[:, :1], x[:, 1:]).mean()
        optimizer.zero_grad()
        (flow_loss + mdn_loss).backward()
        optimizer.step()
        history["flow"].append(flow_loss.item())
        history["mdn"].append(mdn_loss.item())
        if (step + 1) % 20 == 0:
            print(f"{step + 1}: flow {flow_loss:.4f} mdn {mdn_loss.item():.4f}")

    with torch.no_grad():
        z = torch.from_numpy(rng.standard_normal((64, 2))).float()
        samples = flow.sample(z)
        back = samples
        for layer in flow.layers:
            back, _ = layer(back)
        assert torch.allclose(back, z, atol=1e-3), (back - z).abs().max()
        pi, normal = mdn(torch.tensor([[0.5]]))
        spread = kl_divergence(normal, Normal(0.0, 1.0))
        print(f"shares at 0.5: {pi.probs.numpy().round(3)}, entropy {pi.entropy().item():.3f}")
    if args.out:
        np.savez(args.out, loss=history["flow"], mdn=history["mdn"], samples=samples, spread=spread)


if __name__ == "__main__":
    main()
