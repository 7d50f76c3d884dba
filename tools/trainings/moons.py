"""Train a network of Scalars on the two moons, with nothing but the cores of stages 0 and 1."""

from __future__ import annotations

import math
import random

from mt_autodiff import Scalar, central_difference, grad, no_grad
from mt_operators import Module, Parameter

RNG = random.Random(0)
RATE, EPOCHS = 0.1, 60

Point = tuple[float, float, int]
"""Two coordinates and a class, 0 or 1."""


class Linear(Module):
    """A linear layer: weighted sums of all inputs, each with a bias."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = math.sqrt(6.0 / inputs)
        for i in range(outputs):
            self.add_parameter(f"bias_{i}", Scalar(RNG.uniform(-1.0, 1.0)))
            for j in range(inputs):
                self.add_parameter(f"weight_{i}_{j}", Scalar(RNG.uniform(-bound, bound)))
        self.shape = outputs, inputs

    def forward(self, *x: Scalar | float) -> list[Scalar]:
        """Return the sums."""
        value = {name: parameter.value for name, parameter in self.named_parameters()}
        outputs, inputs = self.shape
        return [
            sum((value[f"weight_{i}_{j}"] * x[j] for j in range(inputs)), value[f"bias_{i}"])
            for i in range(outputs)
        ]


class Network(Module):
    """Two layers with relu between them; the output is positive for class 1."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.first, self.second = Linear(2, hidden), Linear(hidden, 1)

    def forward(self, x: float, y: float) -> Scalar:
        """Return the score of a point."""
        return self.second.forward(*[total.relu() for total in self.first.forward(x, y)])[0]


def moons(count: int) -> list[Point]:
    """Return points on two interleaved half circles."""
    points = []
    for i in range(count):
        angle, label = RNG.uniform(0.0, math.pi), i % 2
        x, y = math.cos(angle), math.sin(angle)
        points.append((1.0 - x, 0.5 - y, label) if label else (x, y, label))
    return points


def hinge_loss(network: Network, point: Point) -> Scalar:
    """Return the hinge loss of a point."""
    x, y, label = point
    score = network.forward(x, y)
    return ((1.0 - score) if label else (1.0 + score)).relu()


@no_grad()
def accuracy(network: Network, points: list[Point]) -> float:
    """Return the fraction of the points that are classified correctly."""
    return sum(bool(network(x, y) > 0.0) == label for x, y, label in points) / len(points)


def check_a_gradient(network: Network, point: Point) -> None:
    """Compare a derivative from backpropagation with a central difference before training."""
    bias: Scalar = network.second.bias_0.value
    start = bias.data

    def loss_with(value: float) -> float:
        bias.copy_(value)
        return float(hinge_loss(network, point))

    (slope,) = grad(hinge_loss(network, point), bias)
    estimate = central_difference(loss_with, start)
    bias.copy_(start)
    if not math.isclose(float(slope), estimate, abs_tol=1e-6):
        raise SystemExit(f"the derivative is {slope}, but the central difference {estimate}")


def main() -> None:
    """Train, and raise unless nearly every point is classified correctly."""
    network, points = Network(8), moons(40)
    check_a_gradient(network, points[0])
    parameters: list[Parameter] = list(network.parameters())
    best, best_state = 0.0, network.state_dict()
    for _ in range(EPOCHS):
        RNG.shuffle(points)
        for point in points:
            hinge_loss(network, point).backward()
            for parameter in parameters:
                scalar = parameter.value
                if scalar.derivative is not None:
                    scalar.data -= RATE * scalar.derivative
                    scalar.derivative = None
        now = accuracy(network, points)
        if now > best:
            best, best_state = now, network.state_dict()
    network.load_state_dict(best_state)
    print(f"two moons: {accuracy(network, points):.0%} of {len(points)} points")
    if best < 0.95:
        raise SystemExit("the network has not learned")


if __name__ == "__main__":
    main()
