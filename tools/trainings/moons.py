"""Train a network of Scalars on the two moons, with nothing but the cores of stages 0 and 1."""

from __future__ import annotations

import math
import random

from mt_autodiff import Scalar
from mt_operators import Module, Parameter

RNG = random.Random(0)
RATE, EPOCHS = 0.1, 60


class Linear(Module):
    """Weighted sums of all inputs, each with a bias."""

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


def moons(count: int) -> list[tuple[float, float, int]]:
    """Return points on two half circles that reach into each other."""
    points = []
    for i in range(count):
        angle, label = RNG.uniform(0.0, math.pi), i % 2
        x, y = math.cos(angle), math.sin(angle)
        points.append((1.0 - x, 0.5 - y, label) if label else (x, y, label))
    return points


def main() -> None:
    """Train, and raise unless nearly every point is classified correctly."""
    network, points = Network(8), moons(40)
    parameters: list[Parameter] = list(network.parameters())
    for _ in range(EPOCHS):
        RNG.shuffle(points)
        for x, y, label in points:
            score = network.forward(x, y)
            ((1.0 - score) if label else (1.0 + score)).relu().backward()  # the hinge loss
            for parameter in parameters:
                scalar = parameter.value
                if scalar.derivative is not None:
                    scalar.data -= RATE * scalar.derivative
                    scalar.derivative = None
    accuracy = sum((float(network(x, y)) > 0.0) == label for x, y, label in points) / len(points)
    print(f"two moons: {accuracy:.0%} of {len(points)} points")
    if accuracy < 0.95:
        raise SystemExit("the network has not learned")


if __name__ == "__main__":
    main()
