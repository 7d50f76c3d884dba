"""A vector-quantized autoencoder: gradients go straight through the nearest codes."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function


class VectorQuantization(Function):
    """The index of the nearest code for each vector."""

    @staticmethod
    def forward(ctx, inputs, codebook):
        with torch.no_grad():
            embedding_size = codebook.size(1)
            flat = inputs.reshape(-1, embedding_size)
            codebook_sqr = torch.sum(codebook**2, dim=1)
            inputs_sqr = torch.sum(flat**2, dim=1, keepdim=True)
            distances = torch.addmm(codebook_sqr + inputs_sqr, flat, codebook.t(), alpha=-2.0)
            indices = torch.min(distances, dim=1)[1].view(*inputs.size()[:-1])
            ctx.mark_non_differentiable(indices)
            return indices

    @staticmethod
    def backward(ctx, grad_output):
        raise RuntimeError("there is no gradient of an index: use the straight-through estimator")


class VectorQuantizationStraightThrough(Function):
    """The nearest codes and their indices; gradients of the codes pass on to the inputs."""

    @staticmethod
    def forward(ctx, inputs, codebook):
        indices = vq(inputs, codebook)
        flat = indices.view(-1)
        ctx.save_for_backward(flat, codebook)
        ctx.mark_non_differentiable(flat)
        codes = torch.index_select(codebook, dim=0, index=flat)
        return codes.view_as(inputs), flat

    @staticmethod
    def backward(ctx, grad_output, grad_indices):
        grad_inputs, grad_codebook = None, None
        if ctx.needs_input_grad[0]:
            grad_inputs = grad_output.clone()
        if ctx.needs_input_grad[1]:
            indices, codebook = ctx.saved_tensors
            flat = grad_output.contiguous().view(-1, codebook.size(1))
            grad_codebook = torch.zeros_like(codebook)
            grad_codebook.index_add_(0, indices, flat)
        return grad_inputs, grad_codebook


vq = VectorQuantization.apply
vq_st = VectorQuantizationStraightThrough.apply


class VQEmbedding(nn.Module):
    def __init__(self, K, D):
        super().__init__()
        self.embedding = nn.Embedding(K, D)

    def forward(self, z_e_x):
        return vq(z_e_x.permute(0, 2, 3, 1).contiguous(), self.embedding.weight)

    def straight_through(self, z_e_x):
        z = z_e_x.permute(0, 2, 3, 1).contiguous()
        z_q, indices = vq_st(z, self.embedding.weight.detach())
        flat = torch.index_select(self.embedding.weight, dim=0, index=indices)
        z_q_bar = flat.view_as(z).permute(0, 3, 1, 2).contiguous()
        return z_q.permute(0, 3, 1, 2).contiguous(), z_q_bar


class ResBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.block = nn.Sequential(
            nn.ReLU(), nn.Conv2d(dim, dim, 3, 1, 1), nn.ReLU(), nn.Conv2d(dim, dim, 1)
        )

    def forward(self, x):
        return x + self.block(x)


class VectorQuantizedVAE(nn.Module):
    def __init__(self, dim, K=16):
        super().__init__()
        down = [nn.Conv2d(1, dim, 4, 2, 1), nn.ReLU(), nn.Conv2d(dim, dim, 4, 2, 1)]
        self.encoder = nn.Sequential(*down, ResBlock(dim))
        self.codebook = VQEmbedding(K, dim)
        up = [nn.ConvTranspose2d(dim, dim, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(dim, 1, 4, 2, 1)]
        self.decoder = nn.Sequential(ResBlock(dim), nn.ReLU(), *up, nn.Tanh())

    def forward(self, x):
        z_e_x = self.encoder(x)
        z_q_x_st, z_q_x = self.codebook.straight_through(z_e_x)
        return self.decoder(z_q_x_st), z_e_x, z_q_x


def stripes(count, rng):
    """Return waves of three directions, as rows of 12 * 12 elements from -1 to 1."""
    y, x = np.mgrid[0:12, 0:12]
    wave = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])[rng.integers(0, 3, count)]
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    return torch.from_numpy(np.sin(wave @ np.stack((y, x)).reshape(2, -1) + phase.reshape(-1, 1)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--beta", type=float, default=0.25)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(17)
    model = VectorQuantizedVAE(8)
    for name, p in model.named_parameters():
        scale = 0.3 if "embedding" in name else 1 / np.sqrt(p[0].numel())
        p.data.copy_(torch.from_numpy(scale * rng.standard_normal(p.shape)))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses, commitments = [], []
    for step in range(args.steps):
        images = stripes(16, rng).float().view(-1, 1, 12, 12)
        optimizer.zero_grad()
        x_tilde, z_e_x, z_q_x = model(images)
        loss_recons = F.mse_loss(x_tilde, images)
        loss_vq = F.mse_loss(z_q_x, z_e_x.detach())
        loss_commit = F.mse_loss(z_e_x, z_q_x.detach())
        loss = loss_recons + loss_vq + args.beta * loss_commit
        loss.backward()
        optimizer.step()
        losses.append(loss_recons.item() + loss_vq.item())
        commitments.append(loss_commit.item())
        if step % 8 == 7:
            print(f"{step + 1}: reconstruction {loss_recons:.4f}, codes {loss_vq.item():.4f}")
    with torch.no_grad():
        codes = model.codebook(model.encoder(images))
    print(f"{len(codes.unique())} codes in use\n{codes[0].tolist()}")
    if args.out:
        np.savez(args.out, loss=losses, commitment=commitments, codes=codes, x=x_tilde.detach())


if __name__ == "__main__":
    main()
