"""A classifier as text: which class it gives to each part of the plane, and the points it is for.

A terminal is enough to see a decision boundary.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mt_operators.datasets import Dataset, Point

REGIONS = (".", " ")
"""What fills the part of the plane that the classifier calls 0, and the part that it calls 1."""

RIGHT = ("o", "x")
"""A point of class 0 and of class 1 that is classified right."""

WRONG = ("O", "X")
"""A point of class 0 and of class 1 that is classified wrong."""


def text_plot(
    dataset: Dataset, classify: Callable[[Point], int], width: int = 60, height: int = 24
) -> str:
    """Draw a classifier and a data set with characters.

    Args:
        dataset: the points to show.
        classify: from a point, its class: 0 or 1.
        width: how many characters a line has.
        height: how many lines there are.

    Raises:
        ValueError: there are no points, or no room; a point is not finite; or the classifier gives
            another class than 0 or 1.
    """
    if not len(dataset) or width < 2 or height < 2:
        raise ValueError(
            f"{len(dataset)} point(s) cannot be drawn on {width} by {height} characters: give a "
            "point or more, and two characters or more each way."
        )
    if not all(math.isfinite(x) for point in dataset.X for x in point):
        raise ValueError("a point that is infinite or nan cannot be drawn.")

    def class_of(point: Point) -> int:
        label = classify(point)
        if label not in {0, 1}:
            raise ValueError(f"a classifier gives a point class 0 or 1, not {label!r}.")
        return int(label)

    columns = _Axis([x1 for x1, _ in dataset.X], width)
    rows = _Axis([-x2 for _, x2 in dataset.X], height)  # the first line is the top
    lines = [
        [REGIONS[class_of((columns.at(column), -rows.at(row)))] for column in range(width)]
        for row in range(height)
    ]
    for (x1, x2), label in dataset:
        marks = RIGHT if class_of((x1, x2)) == label else WRONG
        lines[rows.cell(-x2)][columns.cell(x1)] = marks[label]
    return "\n".join("".join(line).rstrip() for line in lines)


class _Axis:
    """The cells along one side of the picture, from the smallest value to the largest."""

    def __init__(self, values: list[float], cells: int) -> None:
        self.cells = cells
        self.low = min(values)
        self.size = (max(values) - self.low) / cells or 1.0

    def at(self, cell: int) -> float:
        """Return the value in the middle of a cell."""
        return self.low + (cell + 0.5) * self.size

    def cell(self, value: float) -> int:
        """Return the cell in which a value is."""
        return min(int((value - self.low) / self.size), self.cells - 1)
