"""Tables of numbers whose cells are shaded by size: matrices, and images with their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drawings.picture import COLOURS, FONT, INK, MUTED, RULE, Picture, element, svg, text

CELL = 34.0
MARGIN, LABEL = 2.0, 30.0


def grid(
    numbers: Any,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    row_title: str = "",
    column_title: str = "",
    zeros: bool = True,
    reach: float = 0.0,
    alt: str = "",
) -> Picture:
    """Draw a matrix.

    Args:
        numbers: rows of numbers, or a tensor or array of them.
        rows: the labels of the rows.
        columns: the labels of the columns.
        row_title: the title of the rows.
        column_title: the title of the columns.
        zeros: whether to write zeros; otherwise their cells are empty.
        reach: the absolute value with the full color; by default the largest.
        alt: the text alternative.
    """
    values: list[list[float]] = numbers.tolist() if hasattr(numbers, "tolist") else numbers
    left = MARGIN + (LABEL if rows else 0.0) + (LABEL if row_title else 0.0)
    top = MARGIN + (LABEL if columns else 0.0) + (LABEL if column_title else 0.0)
    width, height = len(values[0]) * CELL, len(values) * CELL
    parts = [cells(values, left, top, zeros=zeros, reach=reach)]
    for i, label in enumerate(rows):
        parts.append(text(left - 10.0, top + (i + 0.5) * CELL + 4.5, label, "end"))
    for j, label in enumerate(columns):
        parts.append(text(left + (j + 0.5) * CELL, top - 10.0, label))
    if column_title:
        parts.append(text(left + width / 2.0, MARGIN + 16.0, column_title, colour=MUTED))
    if row_title:
        turned = text(0.0, 0.0, row_title, colour=MUTED)
        place = f"translate({MARGIN + 14.0:g} {top + height / 2.0:g}) rotate(-90)"
        parts.append(element("g", turned, transform=place))
    size = left + width + MARGIN, top + height + MARGIN
    shape = f"A matrix of {len(values)} rows and {len(values[0])} columns"
    return Picture(svg(*size, *parts), alt or shape)


def cells(
    numbers: Sequence[Sequence[float | None]],
    left: float,
    top: float,
    *,
    zeros: bool = True,
    reach: float = 0.0,
) -> str:
    """Return the cells of a matrix.

    Args:
        numbers: rows of numbers; None is a cell that is not known yet, and drawn dashed.
        left: the left edge.
        top: the upper edge.
        zeros: whether to write zeros.
        reach: the absolute value with the full color; by default the largest.
    """
    most = reach or max((abs(v) for row in numbers for v in row if v is not None), default=0.0)
    squares, labels = [], []
    for i, row in enumerate(numbers):
        for j, value in enumerate(row):
            x, y = left + j * CELL, top + i * CELL
            place = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{CELL:g}", "height": f"{CELL:g}"}
            if value is None:
                squares.append(element("rect", **place, stroke_dasharray="2 3"))
                continue
            strength = 0.6 * min(abs(value) / (most or 1.0), 1.0)
            fill = f"fill: {COLOURS[value < 0]}; fill-opacity: {strength:.2f}"
            squares.append(element("rect", **place, **({"style": fill} if strength else {})))
            if value or zeros:
                at = {"x": f"{x + CELL / 2.0:g}", "y": f"{y + CELL / 2.0 + 4.5:g}"}
                labels.append(element("text", f"{value + 0.0:.3g}".replace("-", "−"), **at))
    style = f"{FONT}; fill: {INK}"
    return element("g", "".join(squares), style=f"fill: none; stroke: {RULE}") + element(
        "g", "".join(labels), style=style, text_anchor="middle"
    )


def frame(row: int, column: int, height: int, width: int, left: float, top: float) -> str:
    """Return a thick frame around some cells of a matrix whose corner is at `left`, `top`."""
    place = {"x": f"{left + column * CELL:g}", "y": f"{top + row * CELL:g}"}
    size = {"width": f"{width * CELL:g}", "height": f"{height * CELL:g}"}
    style = f"fill: none; stroke: {COLOURS[2]}; stroke-width: 3.5"
    return element("rect", **place, **size, style=style)
