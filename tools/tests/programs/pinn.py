"""Two solvers of differential equations: Burgers' equation in a loss, and a neural ODE."""

import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.autograd import grad
from torch.autograd.functional import jacobian

torch.set_default_dtype(torch.float64)


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


def mlp(widths, activation, rng):
    layers = []
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        layers.append(nn.Linear(a, b))
        layers[-1].weight.data = torch.tensor(rng.normal(0, 1 / np.sqrt(a), (b, a)))
        layers[-1].bias.data = torch.zeros(b)
        if i < len(widths) - 2:
            layers.append(activation())
    return nn.Sequential(*layers)


def derivative(y, x):
    return grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True)[0]


def residual(model, t, x, viscosity=0.05):
    t.requires_grad_()
    x.requires_grad_()
    u = model(torch.hstack([t, x]))
    u_x = derivative(u, x)
    return derivative(u, t) + u * u_x - viscosity * derivative(u_x, x)


def burgers(steps, rng):
    model = mlp([2, 16, 16, 1], nn.Tanh, rng)
    t0 = torch.zeros(32, 1)
    x0 = torch.linspace(-1, 1, 32).view(-1, 1)
    u0 = -torch.sin(np.pi * x0)
    edges = torch.tensor([[s / 8, e] for s in range(9) for e in (-1.0, 1.0)])
    t, x = (torch.from_numpy(v) for v in (rng.random((96, 1)), rng.uniform(-1, 1, (96, 1))))
    optimizer = torch.optim.LBFGS(
        model.parameters(), max_iter=4, history_size=10, line_search_fn="strong_wolfe"
    )
    losses = []

    def closure():
        optimizer.zero_grad()
        start = (model(torch.cat([t0, x0], dim=1)) - u0).square().mean()
        wall = model(edges).pow(2).mean()
        loss = start + wall + residual(model, t, x).pow(2).mean()
        loss.backward()
        return loss

    for step in range(steps):
        losses.append(optimizer.step(closure).item())
        if step % 5 == 4:
            print(f"burgers {step + 1}: {losses[-1]:.6f}")
    grid = torch.cartesian_prod(torch.linspace(0, 1, 5), torch.linspace(-1, 1, 9))
    with torch.no_grad():
        u = model(grid)
    slope = jacobian(lambda point: model(point).sum(), grid[:4])
    return losses, u.numpy(), slope.numpy()


def rk4(f, y, times):
    states = [y]
    for start, end in zip(times[:-1], times[1:]):
        h = end - start
        k1 = f(y)
        k2 = f(y + h * k1 / 2)
        k3 = f(y + h * k2 / 2)
        k4 = f(y + h * k3)
        y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        states.append(y)
    return torch.stack(states)


def spiral(steps, rng):
    true = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    times = torch.linspace(0.0, 1.5, 16)
    y0 = torch.tensor([[2.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    with torch.no_grad():
        wanted = rk4(lambda y: y @ true.mT, y0, times)
    model = mlp([2, 16, 2], Sine, rng)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3, momentum=0.5, centered=True)
    losses = []
    for step in range(steps):
        loss = torch.abs(rk4(model, y0, times) - wanted).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    print(f"spiral: {losses[0]:.5f} at first, {losses[-1]:.5f} in the end")
    return losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--out")
    args = parser.parse_args()
    rng = np.random.default_rng(6)
    losses, u, slope = burgers(args.steps, rng)
    ode = spiral(2 * args.steps, rng)
    if args.out:
        np.savez(args.out, loss=losses, ode=ode, u=u, slope=slope)


if __name__ == "__main__":
    main()
