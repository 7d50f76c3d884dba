"""Solve a differential equation with a network, without data (a physics-informed network).

A mass on a spring with friction, released at x = 1, moves as x'' + 2 d x' + w² x = 0. The network
is a function of time that satisfies the initial conditions by construction, and its loss is the
residual of the equation at some times. This example shows `autograd.grad` with `create_graph`: the
loss contains second derivatives, and training differentiates them a third time.

After about ten seconds the network differs from the exact solution by less than 0.05 everywhere. A
plot shows both.

    python examples/oscillator.py --backend fast
"""

import argparse
import math

from rich.console import Console

import mt_nn as nn
import mt_tensor as mt

FRICTION, FREQUENCY = 1.0, 4.0
END = 2.0
CONSOLE = Console()


def solution(t: mt.Tensor) -> mt.Tensor:
    """Return the exact solution of the oscillator with weak friction."""
    w = math.sqrt(FREQUENCY**2 - FRICTION**2)
    return (-FRICTION * t).exp() * ((w * t).cos() + FRICTION / w * (w * t).sin())


def slope(y: mt.Tensor, t: mt.Tensor) -> mt.Tensor:
    """Return dy/dt at every moment; each y depends on its own t only."""
    found: mt.Tensor | None = mt.autograd.grad(y.sum(), t, create_graph=True)[0]
    return mt.zeros_like(t) if found is None else found


class Motion(nn.Module):
    """The position of the mass at times of shape (count, 1), initially 1 and at rest."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        for parameter in self.network[0].parameters():  # steep enough for an oscillation
            nn.init.uniform_(parameter, -4, 4)

    def forward(self, t: mt.Tensor) -> mt.Tensor:
        found: mt.Tensor = 1.0 + t.square() * self.network(t)
        return found


def loss_of(model: Motion, moments: mt.Tensor) -> mt.Tensor:
    """Return the mean square of the residual of the equation, divided by w²."""
    t = moments.requires_grad_()
    x = model(t)
    speed = slope(x, t)
    wrong = slope(speed, t) + 2 * FRICTION * speed + FREQUENCY**2 * x
    loss: mt.Tensor = (wrong / FREQUENCY**2).square().mean()
    return loss


def plot(model: Motion, width: int = 64, height: int = 15) -> None:
    """Print the network's solution (o) over the known one (·)."""
    t = mt.linspace(0, END, width).view(-1, 1)
    rows = [[" "] * width for _ in range(height)]
    with mt.no_grad():
        for letter, x in (("·", solution(t)), ("o", model(t))):
            places = ((1 - x.flatten().clamp(-1, 1)) / 2 * (height - 1)).round().long()
            for column, row in enumerate(places.tolist()):
                rows[row][column] = letter
    CONSOLE.print("\n".join("".join(row) for row in rows), highlight=False)


def main(arguments: list[str] | None = None) -> float:
    """Train, plot, and return the largest distance from the known solution."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--backend", help="the backend (default: the current one)")
    options = parser.parse_args(arguments)
    with mt.use_backend(mt.get_backend(options.backend)):
        mt.manual_seed(0)
        model = Motion()
        optimizer = nn.optim.Adam(model.parameters(), lr=5e-3)
        schedule = nn.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
        for step in range(1, options.steps + 1):
            loss = loss_of(model, END * mt.rand(64, 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            if step % 300 == 0:
                CONSOLE.print(f"step {step:4d}   loss {loss.item():.5f}")
        t = mt.linspace(0, END, 200).view(-1, 1)
        with mt.no_grad():
            distance: float = (model(t) - solution(t)).abs().max().item()
        plot(model)
        CONSOLE.print(f"\nlargest distance from the known solution: {distance:.3f}")
    return distance


if __name__ == "__main__":
    main()
