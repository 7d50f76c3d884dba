"""Boxes with text, joined by arrows: what trees, folds and graphs of formulas are drawn with."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from drawings.picture import COLOURS, INK, MUTED, PAPER, Picture, element, svg, text

CHARACTER = 7.4
"""The width of a character."""

LINE, PADDING, MARGIN = 18.0, 11.0, 8.0
"""The height of a line, the space beside the text, and the space around the picture."""

STYLES = {
    "": f"fill: {PAPER}; stroke: {MUTED}; stroke-width: 1.5",
    "source": f"fill: light-dark(#e3edfb, #1d2f4a); stroke: {COLOURS[0]}; stroke-width: 1.5",
    "marked": f"fill: light-dark(#fdeee0, #46290c); stroke: {COLOURS[1]}; stroke-width: 3",
    "done": f"fill: light-dark(#e3f5e8, #173423); stroke: {COLOURS[2]}; stroke-width: 1.5",
    "dashed": f"fill: {PAPER}; stroke: {MUTED}; stroke-width: 1.5; stroke-dasharray: 4 3",
}
"""The looks of a box, by its kind."""


@dataclass(frozen=True)
class Box:
    """A box.

    Attributes:
        column: where its middle is, in columns.
        row: the row that it is in.
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


def boxes(
    places: Mapping[Hashable, Box],
    edges: Iterable[tuple[Hashable, ...]],
    *,
    alt: str,
    column: float = 96.0,
    row: float = 68.0,
) -> Picture:
    """Draw boxes and arrows.

    Args:
        places: the boxes by key.
        edges: the keys of the boxes at both ends of an arrow, which points to the second. Between
            them there may be pairs of a column and a row, through which the arrow is led.
        alt: the text alternative.
        column: the distance of columns.
        row: the distance of rows.
    """
    all_boxes = list(places.values())
    left = min(box.column * column - box.width / 2.0 for box in all_boxes) - MARGIN
    right = max(box.column * column + box.width / 2.0 for box in all_boxes) + MARGIN
    top = min(box.row * row - box.height / 2.0 for box in all_boxes) - MARGIN
    bottom = max(box.row * row + box.height / 2.0 for box in all_boxes) + MARGIN

    def at(place: tuple[float, float]) -> tuple[float, float]:
        return place[0] * column - left, place[1] * row - top

    parts = []
    for start, *between, end in edges:
        first, last = places[start], places[end]
        x, y = at((first.column, first.row))
        to_x, to_y = at((last.column, last.row))
        points = [(x, y + first.height / 2.0), *(at(place) for place in between)]  # type: ignore[arg-type]
        parts.append(_arrow([*points, (to_x, to_y - last.height / 2.0)]))
    for box in all_boxes:
        parts.append(_box(box, *at((box.column, box.row))))
    return Picture(svg(right - left, bottom - top, *parts), alt)


def _box(box: Box, x: float, y: float) -> str:
    size = {"x": f"{x - box.width / 2.0:.1f}", "y": f"{y - box.height / 2.0:.1f}"}
    size |= {"width": f"{box.width:.1f}", "height": f"{box.height:.1f}"}
    parts = [element("rect", **size, rx=5, style=STYLES[box.kind])]
    first = y - LINE * (len(box.lines) - 1) / 2.0 + 4.5
    for number, line in enumerate(box.lines):
        parts.append(text(round(x, 1), first + LINE * number, line, colour=INK if number == 0 else MUTED))
    return "".join(parts)


def _arrow(points: Sequence[tuple[float, float]]) -> str:
    """Return a smooth line through points, which goes down at each of them, with its head."""
    path = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    ends = [*points[1:-1], (points[-1][0], points[-1][1] - 6.0)]
    for (x, y), (to_x, to_y) in zip(points, ends, strict=False):
        middle = (y + to_y) / 2.0
        path.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
    x, y = points[-1]
    line = f"fill: none; stroke: {MUTED}; stroke-width: 1.5"
    head = element("path", d=f"M{x:.1f} {y:.1f}l-4 -8h8z", style=f"fill: {MUTED}")
    return element("path", d="".join(path), style=line) + head
