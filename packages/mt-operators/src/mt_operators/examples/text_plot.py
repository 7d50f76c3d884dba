"""Text plots of classifiers: the class of each part of the plane, and the points.

They show the decision boundary in a terminal.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from mt_operators.datasets import Dataset, Point

REGIONS = (".", " ")
"""The characters of the regions of class 0 and class 1."""

RIGHT = ("o", "x")
"""The characters of correctly classified points of class 0 and class 1."""

WRONG = ("O", "X")
"""The characters of wrongly classified points of class 0 and class 1."""


def text_plot(
    dataset: Dataset, classify: Callable[[Point], int], width: int = 60, height: int = 24
) -> str:
    """Return a text plot of a classifier and a data set.

    Args:
        dataset: the points to show.
        classify: maps a point to its class, 0 or 1.
        width: the number of characters in a line.
        height: the number of lines.

    Raises:
        ValueError: there are no points, the plot is too small, a point is not finite, or a class is
            not 0 or 1.
    """
    if not len(dataset) or width < 2 or height < 2:
        raise ValueError(
            f"text_plot() cannot draw {len(dataset)} point(s) on {width} by {height} characters: "
            "give at least one point, and at least two characters in each direction."
        )
    if not all(math.isfinite(x) for point in dataset.X for x in point):
        raise ValueError("text_plot() needs finite points; a coordinate is infinite or nan.")

    def class_of(point: Point) -> int:
        label = classify(point)
        if label not in {0, 1}:
            raise ValueError(f"text_plot() needs a classifier that returns 0 or 1, not {label!r}.")
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
    """The cells along one side of the plot, from the smallest value to the largest."""

    def __init__(self, values: list[float], cells: int) -> None:
        self.cells = cells
        self.low = min(values)
        self.size = (max(values) - self.low) / cells or 1.0

    def at(self, cell: int) -> float:
        """Return the value at the middle of a cell."""
        return self.low + (cell + 0.5) * self.size

    def cell(self, value: float) -> int:
        """Return the cell that contains a value."""
        return min(int((value - self.low) / self.size), self.cells - 1)
