"""Points in the plane in two classes: the six data sets of the MiniTorch course, and moons.

The course's data sets are ordered from easy to hard. A line separates `simple` and `diag`; `split`,
`xor` and `circle` need a hidden layer; `spiral` needs a trained network. All but the moons lie in
the unit square. The same seed gives the same points. Each function raises `ValueError` if the
number of points, `N`, is not a non-negative integer.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import SupportsIndex

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Points with their classes.

    Iteration yields pairs `((x1, x2), label)`.

    Attributes:
        X: the points.
        y: the class of each point, 0 or 1.

    Raises:
        ValueError: the numbers of points and classes differ, or a class is not 0 or 1.
    """

    X: tuple[Point, ...]
    y: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.X) != len(self.y):
            raise ValueError(
                f"Dataset() needs one class per point, got {len(self.X)} point(s) and "
                f"{len(self.y)} class(es)."
            )
        for label in self.y:
            if label not in {0, 1}:
                raise ValueError(f"a class of a Dataset must be 0 or 1, got {label!r}.")

    @property
    def N(self) -> int:
        """The number of points."""
        return len(self.X)

    def __len__(self) -> int:
        return len(self.X)

    def __iter__(self) -> Iterator[tuple[Point, int]]:
        return zip(self.X, self.y, strict=True)


def simple(N: int, seed: int = 0) -> Dataset:
    """Return `N` points; class 1 is on the left, `x1 < 0.5`."""
    return _in_square(N, seed, lambda x1, x2: x1 < 0.5)


def diag(N: int, seed: int = 0) -> Dataset:
    """Return `N` points; class 1 is below a diagonal, `x1 + x2 < 0.5`."""
    return _in_square(N, seed, lambda x1, x2: x1 + x2 < 0.5)


def split(N: int, seed: int = 0) -> Dataset:
    """Return `N` points; class 1 is on either side of a band, `x1 < 0.2` or `x1 > 0.8`."""
    return _in_square(N, seed, lambda x1, x2: x1 < 0.2 or x1 > 0.8)


def xor(N: int, seed: int = 0) -> Dataset:
    """Return `N` points; class 1 is where exactly one of `x1` and `x2` is below 0.5."""
    return _in_square(N, seed, lambda x1, x2: (x1 < 0.5) != (x2 < 0.5))


def circle(N: int, seed: int = 0) -> Dataset:
    """Return `N` points; class 1 is outside a circle of squared radius 0.1 around the middle."""
    return _in_square(N, seed, lambda x1, x2: (x1 - 0.5) ** 2 + (x2 - 0.5) ** 2 > 0.1)


def spiral(N: int, seed: int = 0) -> Dataset:
    """Return `N` points on two spiral arms around the middle, one for each class."""
    rng = _generator(N, seed)
    points, labels = [], []
    for index in range(N):
        label = index % 2
        angle = rng.uniform(2.0, 10.0)  # the radius is angle / 20
        side = 1.0 - 2.0 * label  # the second arm is the first, rotated by 180 degrees
        points.append(
            (
                0.5 + side * angle * math.cos(angle) / 20.0,
                0.5 + side * angle * math.sin(angle) / 20.0,
            )
        )
        labels.append(label)
    return Dataset(tuple(points), tuple(labels))


def moons(N: int, seed: int = 0, noise: float = 0.1) -> Dataset:
    """Return `N` points on two interleaved half circles.

    Class 0 is the upper half of the unit circle around the origin; class 1 is the lower half of the
    unit circle around `(1, 0.5)`.

    Args:
        N: the number of points.
        seed: the seed of the generator.
        noise: the standard deviation of the noise that is added to each coordinate.

    Raises:
        ValueError: `noise` is negative or not finite, or `N` is not a non-negative integer.
    """
    if not 0.0 <= noise < math.inf:
        raise ValueError(f"moons: noise must be a non-negative finite number, got {noise!r}.")
    rng = _generator(N, seed)
    points, labels = [], []
    for index in range(N):
        label = index % 2
        angle = rng.uniform(0.0, math.pi)
        x1, x2 = math.cos(angle), math.sin(angle)
        if label:
            x1, x2 = 1.0 - x1, 0.5 - x2
        points.append((x1 + rng.gauss(0.0, noise), x2 + rng.gauss(0.0, noise)))
        labels.append(label)
    return Dataset(tuple(points), tuple(labels))


DATASETS: dict[str, Callable[..., Dataset]] = {
    "simple": simple,
    "diag": diag,
    "split": split,
    "xor": xor,
    "circle": circle,
    "spiral": spiral,
    "moons": moons,
}
"""The data sets by name: those of the course from easy to hard, then the moons."""


def _in_square(N: int, seed: int, is_one: Callable[[float, float], bool]) -> Dataset:
    """Return uniform points of the unit square, with class 1 where `is_one` is true."""
    rng = _generator(N, seed)
    points = tuple((rng.random(), rng.random()) for _ in range(N))
    return Dataset(points, tuple(int(is_one(x1, x2)) for x1, x2 in points))


def _generator(N: SupportsIndex, seed: int) -> random.Random:
    """Check the number of points, and return a random generator."""
    if not hasattr(N, "__index__") or operator.index(N) < 0:
        raise ValueError(f"N, the number of points, must be a non-negative integer, got {N!r}.")
    return random.Random(seed)
