"""Contour lines of a function of two variables, and paths that lead to its minimum."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from drawings.picture import COLOURS, INK, OUTLINE, RULE, Picture, element, svg, text

WIDTH, LEFT, TOP, BOTTOM = 456.0, 8.0, 8.0, 30.0
CELLS = 140

Point = tuple[float, float]


def valley(
    function: Callable[[float, float], float],
    paths: Mapping[str, Iterable[Point]],
    *,
    x: Point,
    y: Point,
    levels: Sequence[float],
    alt: str = "",
) -> Picture:
    """Draw contour lines, and paths with a dot for each step.

    Args:
        function: the function.
        paths: the points of each path, by name.
        x: the limits of the first variable, from left to right.
        y: the limits of the second variable, from the bottom to the top.
        levels: the values of the function at the contour lines.
        alt: the text alternative.
    """
    inner = WIDTH - 2.0 * LEFT
    scale = inner / (x[1] - x[0])
    height = scale * (y[1] - y[0])

    def place(point: Point) -> Point:
        return LEFT + scale * (point[0] - x[0]), TOP + scale * (y[1] - point[1])

    lines = "".join(_contour(function, level, x, y, place) for level in levels)
    parts = [element("path", d=lines, style=f"fill: none; stroke: {OUTLINE}; stroke-width: 1.2")]
    for (name, points), colour in zip(paths.items(), COLOURS, strict=False):
        parts.append(_path(list(points), place, colour, name))
    clip = element("rect", x=LEFT, y=TOP, width=inner, height=f"{height:.1f}")
    identity = f"valley-{zlib.crc32(''.join(parts).encode()):x}"  # unique in the page
    inside = [
        element("clipPath", clip, id=identity),
        element("g", "".join(parts), clip_path=f"url(#{identity})"),
    ]
    frame = f"fill: none; stroke: {RULE}"
    around = element("rect", x=LEFT, y=TOP, width=inner, height=f"{height:.1f}", style=frame)
    total = TOP + height + BOTTOM
    legend = _legend(list(paths), total - 9.0)
    names = ", ".join(paths)
    description = alt or f"Contour lines of a function, and the paths of {names} to its minimum."
    return Picture(svg(WIDTH, total, *inside, around, legend), description)


def _contour(
    function: Callable[[float, float], float],
    level: float,
    x: Point,
    y: Point,
    place: Callable[[Point], Point],
) -> str:
    """Return the segments of a contour line: at most two in each cell of a lattice."""
    across = [x[0] + (x[1] - x[0]) * i / CELLS for i in range(CELLS + 1)]
    rows = max(8, round(CELLS * (y[1] - y[0]) / (x[1] - x[0])))
    up = [y[0] + (y[1] - y[0]) * j / rows for j in range(rows + 1)]
    values = [[function(a, b) - level for a in across] for b in up]
    drawn = []
    for j in range(rows):
        for i in range(CELLS):
            around = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1), (i, j))
            corners = [(across[a], up[b], values[b][a]) for a, b in around]
            cuts = [
                place(_zero(start, end))
                for start, end in itertools.pairwise(corners)
                if (start[2] < 0.0) != (end[2] < 0.0)
            ]
            for start, end in zip(cuts[::2], cuts[1::2], strict=True):
                drawn.append(f"M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}")
    return "".join(drawn)


def _zero(start: tuple[float, float, float], end: tuple[float, float, float]) -> Point:
    """Return where the third number is 0 between two points, assuming that it is linear."""
    share = start[2] / (start[2] - end[2])
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def _path(points: list[Point], place: Callable[[Point], Point], colour: str, name: str) -> str:
    """Return a path, whose steps are dots."""
    known = [place(p) for p in points if all(math.isfinite(v) and abs(v) < 1e6 for v in p)]
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in known)
    stroke = f"fill: none; stroke: {colour}; stroke-width: 2; stroke-linejoin: round"
    dots = "".join(element("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r=2.6) for a, b in known)
    title = element("title", name)
    return element("g", title + element("path", d=f"M{line}", style=stroke)) + element(
        "g", dots, style=f"fill: {colour}"
    )


def _legend(names: Sequence[str], y: float) -> str:
    parts, x = [], LEFT
    for name, colour in zip(names, COLOURS, strict=False):
        line = f"stroke: {colour}; stroke-width: 3"
        parts.append(element("line", x1=x, x2=x + 22.0, y1=y - 4.0, y2=y - 4.0, style=line))
        parts.append(text(x + 28.0, y, name, "start", INK))
        x += 28.0 + 8.0 * len(name) + 26.0
    return "".join(parts)
