"""Boxes with text, joined by arrows, for pictures of trees, folds and graphs of formulas."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from drawings.picture import COLOURS, INK, MUTED, PAPER, Picture, element, svg, text

CHARACTER = 7.4
"""The width of a character."""

LINE, PADDING, MARGIN = 18.0, 11.0, 8.0
"""The height of a line, the space on each side of the text, and the space around the picture."""

STYLES = {
    "": f"fill: {PAPER}; stroke: {MUTED}; stroke-width: 1.5",
    "source": f"fill: light-dark(#e3edfb, #1d2f4a); stroke: {COLOURS[0]}; stroke-width: 1.5",
    "marked": f"fill: light-dark(#fdeee0, #46290c); stroke: {COLOURS[1]}; stroke-width: 3",
    "done": f"fill: light-dark(#e3f5e8, #173423); stroke: {COLOURS[2]}; stroke-width: 1.5",
    "dashed": f"fill: {PAPER}; stroke: {MUTED}; stroke-width: 1.5; stroke-dasharray: 4 3",
}
"""The style of a box, by its kind."""


@dataclass(frozen=True)
class Box:
    """A box.

    Attributes:
        column: the position of its center, in columns.
        row: the position of its center, in rows.
        lines: its text.
        kind: see `STYLES`.
    """

    column: float
    row: int
    lines: Sequence[str]
    kind: str = ""

    @property
    def width(self) -> float:
        """The width on the page."""
        return 2.0 * PADDING + CHARACTER * max(2, *(len(line) for line in self.lines))

    @property
    def height(self) -> float:
        """The height on the page."""
        return LINE * len(self.lines) + 10.0

    def top(self, row: float) -> float:
        """Return the upper edge of the box, given the distance between rows."""
        return self.row * row - self.height / 2.0

    def bottom(self, row: float) -> float:
        """Return the lower edge of the box, given the distance between rows."""
        return self.row * row + self.height / 2.0


@dataclass(frozen=True)
class Edge:
    """An arrow.

    Attributes:
        start: the key of the box where it begins.
        end: the key of the box that it points to.
        between: the points that it passes through, pairs of a column and a row.
    """

    start: Hashable
    end: Hashable
    between: Sequence[tuple[float, float]] = ()


def boxes(
    places: Mapping[Hashable, Box],
    edges: Iterable[Edge],
    *,
    alt: str,
    column: float = 96.0,
    row: float = 68.0,
) -> Picture:
    """Draw boxes and arrows.

    Args:
        places: the boxes by key.
        edges: the arrows.
        alt: the text alternative.
        column: the distance between columns.
        row: the distance between rows.
    """
    everything = list(places.values())
    arrows = [
        [
            (places[edge.start].column * column, places[edge.start].bottom(row)),
            *((x * column, y * row) for x, y in edge.between),
            (places[edge.end].column * column, places[edge.end].top(row)),
        ]
        for edge in edges
    ]
    bends = [x for points in arrows for x, _ in points[1:-1]]
    left = min([box.column * column - box.width / 2.0 for box in everything] + bends) - MARGIN
    right = max([box.column * column + box.width / 2.0 for box in everything] + bends) + MARGIN
    top = min(box.top(row) for box in everything) - MARGIN
    bottom = max(box.bottom(row) for box in everything) + MARGIN
    parts = [_arrow([(x - left, y - top) for x, y in points]) for points in arrows]
    parts += [_box(box, box.column * column - left, box.row * row - top) for box in everything]
    return Picture(svg(right - left, bottom - top, *parts), alt)


def _box(box: Box, x: float, y: float) -> str:
    size = {"x": f"{x - box.width / 2.0:.1f}", "y": f"{y - box.height / 2.0:.1f}"}
    size |= {"width": f"{box.width:.1f}", "height": f"{box.height:.1f}"}
    parts = [element("rect", **size, rx=5, style=STYLES[box.kind])]
    first = y - LINE * (len(box.lines) - 1) / 2.0 + 4.5
    for number, line in enumerate(box.lines):
        colour = INK if number == 0 else MUTED
        parts.append(text(round(x, 1), round(first + LINE * number, 1), line, colour=colour))
    return "".join(parts)


def _arrow(points: Sequence[tuple[float, float]]) -> str:
    """Return a smooth arrow through points, vertical at each of them."""
    path = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    ends = [*points[1:-1], (points[-1][0], points[-1][1] - 6.0)]
    for (x, y), (to_x, to_y) in zip(points, ends, strict=False):
        middle = (y + to_y) / 2.0
        path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
    x, y = points[-1]
    line = f"fill: none; stroke: {MUTED}; stroke-width: 1.5"
    head = element("path", d=f"M{x:.1f} {y:.1f}l-4 -8h8z", style=f"fill: {MUTED}")
    return element("path", d="".join(path), style=line) + head
