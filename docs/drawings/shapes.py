"""Shapes below each other, aligned at their last dimension, with the shape they broadcast to."""

from __future__ import annotations

from collections.abc import Sequence

from drawings.picture import COLOURS, INK, MUTED, RULE, Picture, element, svg, text

WIDTH, HEIGHT = 54.0, 34.0
GAP = 10.0
LABELS = 62.0
REPEATED = f"fill: {COLOURS[0]}; fill-opacity: 0.18; stroke: {COLOURS[0]}"
CONFLICT = f"fill: {COLOURS[1]}; fill-opacity: 0.25; stroke: {COLOURS[1]}"
PLAIN = f"fill: none; stroke: {MUTED}"


def aligned(*shapes: Sequence[int]) -> Picture:
    """Draw shapes that are broadcast.

    Dimensions that a shape lacks have a dashed outline. Sizes that are repeated are blue. Sizes
    that cannot be broadcast are orange, and their result is a cross.

    Args:
        *shapes: the shapes, of any number of dimensions.
    """
    ndim = max(map(len, shapes))
    rows = [(None,) * (ndim - len(shape)) + tuple(shape) for shape in shapes]
    columns = [
        [size for size in column if size not in (1, None)] for column in zip(*rows, strict=True)
    ]
    clashes = [len(set(column)) > 1 for column in columns]
    result = [column[0] if column else 1 for column in columns]
    parts = []
    for number, row in enumerate(rows):
        y = number * (HEIGHT + GAP) + 6.0
        parts.append(_label(y, f"shape {number + 1}"))
        for d, size in enumerate(row):
            stretched = size in (1, None) and result[d] != 1
            style = CONFLICT if clashes[d] and not stretched else REPEATED if stretched else PLAIN
            parts.append(_box(d, y, "" if size is None else str(size), style, size is None))
    y = len(rows) * (HEIGHT + GAP) + 12.0
    rule = f"stroke: {RULE}; stroke-width: 1.5"
    right = LABELS + ndim * (WIDTH + GAP) - GAP
    parts.append(element("line", x1=0, x2=right, y1=y - GAP / 2, y2=y - GAP / 2, style=rule))
    parts.append(_label(y + 4.0, "result"))
    for d, size in enumerate(result):
        content = "✕" if clashes[d] else str(size)
        parts.append(_box(d, y + 4.0, content, CONFLICT if clashes[d] else PLAIN, False))
    names = " and ".join(str(tuple(shape)) for shape in shapes)
    outcome = "do not fit together" if any(clashes) else f"give {tuple(result)}"
    alt = f"The shapes {names}, aligned at their last dimension: they {outcome}."
    return Picture(svg(right, y + HEIGHT + 12.0, *parts), alt)


def _label(y: float, words: str) -> str:
    return text(0.0, y + HEIGHT / 2.0 + 4.5, words, "start", MUTED)


def _box(column: int, y: float, content: str, style: str, missing: bool) -> str:
    """Return the box of one size."""
    x = LABELS + column * (WIDTH + GAP)
    dashes = "; stroke-dasharray: 4 3" if missing else ""
    outline = f"{style}; stroke-width: 1.5{dashes}"
    box = element("rect", x=x, y=y, width=WIDTH, height=HEIGHT, rx=4, style=outline)
    return box + text(x + WIDTH / 2.0, y + HEIGHT / 2.0 + 4.5, content, colour=INK)
