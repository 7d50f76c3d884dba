"""Points of two classes in the plane, and the regions in which a model predicts each class."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence

from drawings.picture import COLOURS, PAPER, RULE, Picture, element, svg

SIZE, MARGIN, CELLS = 342.0, 6.0, 33  # cells of exactly 10 pixels leave no gaps
INNER = SIZE - 2.0 * MARGIN

LEVELS = 8
"""The number of shades of each class; the more certain, the darker."""


def plane(
    points: Sequence[Sequence[float]],
    labels: Sequence[int],
    predict: Callable[[float, float], float] | None = None,
    *,
    alt: str = "",
) -> Picture:
    """Draw points on top of the predicted class of each place.

    Args:
        points: pairs of coordinates.
        labels: the class of each point, 0 or 1.
        predict: a function of the coordinates that returns the probability of class 1; None to draw
            the points only.
        alt: the text alternative.
    """
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    pad = 0.06 * max(max(xs) - min(xs), max(ys) - min(ys))
    left, right, low, high = min(xs) - pad, max(xs) + pad, min(ys) - pad, max(ys) + pad
    parts = []
    if predict is not None:
        shades = [
            [
                _shade(
                    predict(
                        left + (right - left) * (column + 0.5) / CELLS,
                        high - (high - low) * (row + 0.5) / CELLS,
                    )
                )
                for column in range(CELLS)
            ]
            for row in range(CELLS)
        ]
        parts.append(_regions(shades))
    for x, y, label in zip(xs, ys, labels, strict=True):
        cx = MARGIN + INNER * (x - left) / (right - left)
        cy = MARGIN + INNER * (high - y) / (high - low)
        parts.append(_mark(cx, cy, label))
    frame = f"fill: none; stroke: {RULE}"
    parts.append(element("rect", x=MARGIN, y=MARGIN, width=INNER, height=INNER, style=frame))
    count = f"{len(points)} points of two classes"
    return Picture(
        svg(SIZE, SIZE, *parts), alt or (f"{count}, and the predicted class" if predict else count)
    )


def _shade(chance: float) -> tuple[int, int]:
    """Return the predicted class and the shade of a probability of class 1."""
    chance = min(max(float(chance), 0.0), 1.0)
    return int(chance >= 0.5), round(LEVELS * abs(2.0 * chance - 1.0))


def _regions(shades: Sequence[Sequence[tuple[int, int]]]) -> str:
    """Return one path for each shade, made of the runs of equal cells in the rows."""
    side = INNER / CELLS
    paths = defaultdict(list)
    for row, line in enumerate(shades):
        column = 0
        for shade, run in itertools.groupby(line):
            count = len(list(run))
            width = f"{count * side:.1f}"
            place = f"M{MARGIN + column * side:.1f} {MARGIN + row * side:.1f}"
            paths[shade].append(f"{place}h{width}v{side:.1f}h-{width}z")
            column += count
    return "".join(
        element("path", d="".join(path), style=f"{_fill(*shade)}; shape-rendering: crispEdges")
        for shade, path in sorted(paths.items())
        if shade[1]
    )


def _fill(label: int, level: int) -> str:
    return f"fill: {COLOURS[label]}; opacity: {0.55 * level / LEVELS:.2f}"


def _mark(x: float, y: float, label: int) -> str:
    """Return a point: a circle for class 0, and a triangle for class 1."""
    style = f"fill: {COLOURS[label]}; stroke: {PAPER}; stroke-width: 1.5"
    if label:
        return element("path", d=f"M{x:.1f} {y - 5.5:.1f} l5 9.5 h-10 z", style=style)
    return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=4.5, style=style)
