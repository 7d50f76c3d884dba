"""Classifiers with weights chosen by hand.

    python -m mt_operators.examples.manual xor

Each hidden unit of the network measures how far a point is on the positive side of a line, and a
threshold on the weighted sum decides the class. `spiral` is too hard for this; the next stage
differentiates networks so that they can be trained.
"""

from __future__ import annotations

import argparse
import math

from mt_operators.core.module import Module
from mt_operators.core.parameter import Parameter
from mt_operators.datasets import DATASETS, Dataset, Point
from mt_operators.examples.arguments import positive_int
from mt_operators.examples.text_plot import text_plot
from mt_operators.operators import relu


class Line(Module):
    """`a x1 + b x2 + c`, which is 0 on a line of the plane and positive on one side of it."""

    def __init__(self, a: float, b: float, c: float) -> None:
        super().__init__()
        self.a, self.b, self.c = Parameter(a), Parameter(b), Parameter(c)

    def forward(self, point: Point) -> float:
        """Return the value at a point, which is proportional to its signed distance."""
        x1, x2 = point
        return float(self.a.value * x1 + self.b.value * x2 + self.c.value)


class Network(Module):
    """A network for which class 1 is where the weighted sum of `relu(line)` exceeds a threshold.

    Args:
        lines: for each hidden unit its weight in the sum and `a`, `b` and `c` of its line.
        threshold: the number that the sum must exceed.
    """

    def __init__(
        self, lines: list[tuple[float, float, float, float]], threshold: float = 0.0
    ) -> None:
        super().__init__()
        self.threshold = Parameter(threshold)
        self.weights = []
        for number, (weight, a, b, c) in enumerate(lines):
            self.weights.append(self.add_parameter(f"weight{number}", weight))
            self.add_module(f"line{number}", Line(a, b, c))

    def forward(self, point: Point) -> int:
        """Return the class of a point."""
        units = zip(self.weights, self.children(), strict=True)
        total = sum(weight.value * relu(line(point)) for weight, line in units)
        return int(total > self.threshold.value)


def _polygon(sides: int, radius: float) -> list[tuple[float, float, float, float]]:
    """Return lines around the middle of the unit square, positive outside."""
    lines = []
    for side in range(sides):
        a, b = math.cos(math.tau * side / sides), math.sin(math.tau * side / sides)
        lines.append((1.0, a, b, -radius - 0.5 * (a + b)))
    return lines


def network_for(name: str) -> Network:
    """Return the network with weights chosen by hand for a data set.

    Raises:
        ValueError: the data set has no such network.
    """
    settings = {
        "simple": [(1.0, -1.0, 0.0, 0.5)],
        "diag": [(1.0, -1.0, -1.0, 0.5)],
        "split": [(1.0, -1.0, 0.0, 0.2), (1.0, 1.0, 0.0, -0.8)],
        # With u = x1 - 1/2 and v = x2 - 1/2: u v < 0 where |u - v| > |u + v|.
        "xor": [
            (1.0, 1.0, -1.0, 0.0),
            (1.0, -1.0, 1.0, 0.0),
            (-1.0, 1.0, 1.0, -1.0),
            (-1.0, -1.0, -1.0, 1.0),
        ],
        "circle": _polygon(sides=24, radius=math.sqrt(0.1)),
    }
    if name not in settings:
        raise ValueError(
            f"there is no network with weights chosen by hand for {name!r}, only for "
            f"{', '.join(settings)}: train one with mt-autodiff."
        )
    return Network(settings[name])


def accuracy(network: Network, dataset: Dataset) -> float:
    """Return the fraction of the points that are classified correctly.

    Raises:
        ValueError: there are no points.
    """
    if not len(dataset):
        raise ValueError("accuracy() needs at least one point; the data set is empty.")
    right: int = sum(network(point) == label for point, label in dataset)
    return right / len(dataset)


def main(arguments: list[str] | None = None) -> None:
    """Print a plot of the network and its accuracy."""
    parser = argparse.ArgumentParser(
        prog="python -m mt_operators.examples.manual", description="Classify without training."
    )
    parser.add_argument("data", nargs="?", default="xor", choices=DATASETS)
    parser.add_argument("--points", type=positive_int, default=100, help="number of points (100)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the points (0)")
    options = parser.parse_args(arguments)
    try:
        network = network_for(options.data)
        dataset = DATASETS[options.data](options.points, options.seed)
        print(text_plot(dataset, network))
    except ValueError as error:
        parser.error(str(error))
    print(f"{options.data}: {accuracy(network, dataset):.0%} of {len(dataset)} points")


if __name__ == "__main__":
    main()
