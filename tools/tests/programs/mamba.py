"""A selective state space model, scanned step by step, remembers the marked letters."""

import argparse
import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ModelArgs:
    d_model: int
    n_layer: int
    vocab_size: int
    d_state: int = 4
    expand: int = 2
    d_conv: int = 3
    dt_rank: int = 0

    def __post_init__(self):
        self.d_inner = int(self.expand * self.d_model)
        self.dt_rank = self.dt_rank or math.ceil(self.d_model / 16)


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class MambaBlock(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.args = args
        self.in_proj = nn.Linear(args.d_model, args.d_inner * 2, bias=False)
        self.conv1d = nn.Conv1d(
            in_channels=args.d_inner,
            out_channels=args.d_inner,
            kernel_size=args.d_conv,
            groups=args.d_inner,
            padding=args.d_conv - 1,
        )
        self.x_proj = nn.Linear(args.d_inner, args.dt_rank + args.d_state * 2, bias=False)
        self.dt_proj = nn.Linear(args.dt_rank, args.d_inner, bias=True)
        A = torch.arange(1, args.d_state + 1).repeat(args.d_inner, 1)
        self.A_log = nn.Parameter(torch.log(A))
        self.D = nn.Parameter(torch.ones(args.d_inner))
        self.out_proj = nn.Linear(args.d_inner, args.d_model, bias=False)

    def forward(self, x):
        (b, l, d) = x.shape
        x_and_res = self.in_proj(x)
        (x, res) = x_and_res.split(split_size=[self.args.d_inner, self.args.d_inner], dim=-1)
        x = self.conv1d(x.transpose(1, 2))[:, :, :l].transpose(1, 2)
        y = self.ssm(F.silu(x))
        return self.out_proj(y * F.silu(res))

    def ssm(self, x):
        (d_in, n) = self.A_log.shape
        A = -torch.exp(self.A_log.float())
        (delta, B, C) = self.x_proj(x).split(split_size=[self.args.dt_rank, n, n], dim=-1)
        delta = F.softplus(self.dt_proj(delta))
        return self.selective_scan(x, delta, A, B, C, self.D.float())

    def selective_scan(self, u, delta, A, B, C, D):
        (b, l, d_in) = u.shape
        deltaA = torch.exp(torch.einsum("bld,dn->bldn", delta, A))
        deltaB_u = torch.einsum("bld,bln,bld->bldn", delta, B, u)
        x = torch.zeros((b, d_in, A.shape[1]), device=deltaA.device)
        ys = []
        for i in range(l):
            x = deltaA[:, i] * x + deltaB_u[:, i]
            ys.append(torch.einsum("bdn,bn->bd", x, C[:, i, :]))
        return torch.stack(ys, dim=1) + u * D


class ResidualBlock(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.mixer = MambaBlock(args)
        self.norm = RMSNorm(args.d_model)

    def forward(self, x):
        return self.mixer(self.norm(x)) + x


class Mamba(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embedding = nn.Embedding(args.vocab_size, args.d_model)
        self.layers = nn.ModuleList([ResidualBlock(args) for _ in range(args.n_layer)])
        self.norm_f = RMSNorm(args.d_model)
        self.lm_head = nn.Linear(args.d_model, args.vocab_size, bias=False)
        self.lm_head.weight = self.embedding.weight

    def forward(self, input_ids):
        x = self.embedding(input_ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm_f(x))


def selective_copying(batch, length, marked, vocabulary, rng):
    """Return letters among blanks (0), followed by markers (1), and the letters to repeat there."""
    tokens = np.zeros((batch, length + marked), dtype=np.int64)
    letters = rng.integers(2, vocabulary, (batch, marked))
    for row, chosen in zip(tokens, letters):
        row[np.sort(rng.permutation(length)[:marked])] = chosen
    tokens[:, length:] = 1
    return torch.from_numpy(tokens), torch.from_numpy(letters)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out")
    options = parser.parse_args()
    rng = np.random.default_rng(77)
    model = Mamba(ModelArgs(d_model=16, n_layer=2, vocab_size=8))
    for name, p in model.named_parameters():
        if name.endswith("dt_proj.bias"):
            nn.init.constant_(p, -2.0)
        elif name.endswith(("bias", "embedding.weight", "proj.weight", "conv1d.weight")):
            p.data.copy_(torch.tensor(rng.standard_normal(p.shape) / np.sqrt(p.shape[-1])))
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.01)
    losses = []
    for step in range(options.steps):
        inputs, letters = selective_copying(16, 12, 3, 8, rng)
        logits = model(inputs)[:, -letters.size(1) :]
        loss = F.cross_entropy(logits.flatten(0, 1), letters.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 5 == 4:
            right = (logits.argmax(-1) == letters).float().mean()
            print(f"step {step + 1}: loss {losses[-1]:.4f}, accuracy {right:.3f}")
    if options.out:
        decay = torch.stack([layer.mixer.A_log.detach() for layer in model.layers])
        np.savez(options.out, loss=losses, logits=logits.detach(), decay=decay)
