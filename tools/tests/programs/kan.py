"""A Kolmogorov-Arnold network: each edge is a spline, initialized by least squares."""

import argparse
import math

import numpy as np
import torch
import torch.nn.functional as F


class KANLinear(torch.nn.Module):
    def __init__(self, in_features, out_features, rng, grid_size=4, spline_order=3):
        super(KANLinear, self).__init__()
        self.in_features, self.out_features = in_features, out_features
        self.grid_size, self.spline_order = grid_size, spline_order
        h = 2 / grid_size
        grid = torch.arange(-spline_order, grid_size + spline_order + 1) * h - 1
        self.register_buffer("grid", grid.expand(in_features, -1).contiguous())
        bound = 1 / math.sqrt(in_features)
        drawn = rng.uniform(-bound, bound, (out_features, in_features))
        self.base_weight = torch.nn.Parameter(torch.tensor(drawn, dtype=torch.float32))
        self.spline_weight = torch.nn.Parameter(
            torch.empty(out_features, in_features, grid_size + spline_order)
        )
        self.spline_scaler = torch.nn.Parameter(torch.full((out_features, in_features), bound))
        self.base_activation = torch.nn.SiLU()
        with torch.no_grad():
            noise = (rng.random((grid_size + 1, in_features, out_features)) - 0.5) * 0.5
            points = self.grid.T[spline_order:-spline_order]
            self.spline_weight.data.copy_(
                self.curve2coeff(points, torch.tensor(noise, dtype=torch.float32))
            )

    def b_splines(self, x):
        """Return the bases of B-splines at x [batch, in], by the recursion of Cox and de Boor."""
        assert x.dim() == 2 and x.size(1) == self.in_features
        grid = self.grid
        x = x.unsqueeze(-1)
        bases = ((x >= grid[:, :-1]) & (x < grid[:, 1:])).to(x.dtype)
        for k in range(1, self.spline_order + 1):
            left = (x - grid[:, : -(k + 1)]) / (grid[:, k:-1] - grid[:, : -(k + 1)])
            right = (grid[:, k + 1 :] - x) / (grid[:, k + 1 :] - grid[:, 1:(-k)])
            bases = left * bases[:, :, :-1] + right * bases[:, :, 1:]
        return bases.contiguous()

    def curve2coeff(self, x, y):
        """Return the coefficients of curves that fit y [batch, in, out] at x."""
        A = self.b_splines(x).transpose(0, 1)
        B = y.transpose(0, 1)
        # ridge regression: there may be fewer points than coefficients
        normal = A.mT @ A + 1e-3 * torch.eye(A.size(-1))
        solution = torch.linalg.solve(normal, A.mT @ B)
        return solution.permute(2, 0, 1).contiguous()

    @property
    def scaled_spline_weight(self):
        return self.spline_weight * self.spline_scaler.unsqueeze(-1)

    def forward(self, x):
        base_output = F.linear(self.base_activation(x), self.base_weight)
        spline_output = F.linear(
            self.b_splines(x).view(x.size(0), -1),
            self.scaled_spline_weight.view(self.out_features, -1),
        )
        return base_output + spline_output

    def regularization_loss(self, regularize_activation=1.0, regularize_entropy=1.0):
        l1_fake = self.spline_weight.abs().mean(-1)
        activation = l1_fake.sum()
        p = l1_fake / activation
        entropy = -torch.sum(p * p.log())
        return regularize_activation * activation + regularize_entropy * entropy


class KAN(torch.nn.Module):
    def __init__(self, layers_hidden, rng):
        super(KAN, self).__init__()
        self.layers = torch.nn.ModuleList()
        for in_features, out_features in zip(layers_hidden, layers_hidden[1:]):
            self.layers.append(KANLinear(in_features, out_features, rng))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def regularization_loss(self):
        return sum(layer.regularization_loss(0.1, 0.1) for layer in self.layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(88)
    kan = KAN([2, 5, 1], rng)
    optimizer = torch.optim.AdamW(kan.parameters(), lr=2e-2, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.98)
    losses, penalties = [], []
    for step in range(args.steps):
        x = torch.tensor(rng.uniform(-0.99, 0.99, (64, 2)), dtype=torch.float32)
        y = torch.exp(torch.sin(math.pi * x[:, 0]) + x[:, 1] ** 2) / 4
        optimizer.zero_grad()
        loss = F.mse_loss(kan(x).squeeze(-1), y)
        penalty = kan.regularization_loss()
        (loss + 1e-3 * penalty).backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        penalties.append(penalty.item())
        if step % 5 == 4:
            print(f"{step + 1}: mse {losses[-1]:.5f}, regularization {penalties[-1]:.4f}")
    with torch.no_grad():
        axis = torch.linspace(-0.9, 0.9, 7)
        grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=-1).view(-1, 2)
        surface = kan(grid).view(7, 7)
    print("\n".join(" ".join(f"{v:6.3f}" for v in row) for row in surface.tolist()))
    if args.out:
        np.savez(args.out, loss=losses, penalty=penalties, surface=surface.numpy())


if __name__ == "__main__":
    main()
