"""Heat maps: numbers from 0 to 1 in rows and columns, such as the weights of attention."""

from __future__ import annotations

from collections.abc import Sequence

from drawings.picture import COLOURS, INK, MUTED, RULE, Picture, element, svg, text

CELL, LEFT, TOP = 34.0, 40.0, 46.0


def heat(
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    row_title: str = "queries",
    column_title: str = "keys",
    alt: str = "",
) -> Picture:
    """Draw a heat map.

    Args:
        values: rows of numbers from 0 to 1.
        rows: the labels of the rows.
        columns: the labels of the columns.
        row_title: the title of the rows.
        column_title: the title of the columns.
        alt: the text alternative; by default the largest number of each row.
    """
    parts = [
        text(LEFT + len(columns) * CELL / 2.0, 14.0, column_title, "middle", MUTED),
        *(text(LEFT + (i + 0.5) * CELL, TOP - 10.0, name) for i, name in enumerate(columns)),
        *(text(LEFT - 8.0, TOP + (i + 0.62) * CELL, name, "end") for i, name in enumerate(rows)),
    ]
    turned = text(0.0, 0.0, row_title, "middle", MUTED)
    middle = TOP + len(rows) * CELL / 2.0
    parts.append(element("g", turned, transform=f"translate(12 {middle:g}) rotate(-90)"))
    for i, row in enumerate(values):
        for k, value in enumerate(row):
            x, y = LEFT + k * CELL, TOP + i * CELL
            style = f"fill: {COLOURS[0]}; fill-opacity: {0.6 * value:.3f}; stroke: {RULE}"
            title = element("title", f"{rows[i]} gives {value:.3f} to {columns[k]}")
            place = f"{x:g}", f"{y:g}", f"{CELL:g}"
            size = place[2]
            parts.append(
                element("rect", title, x=place[0], y=place[1], width=size, height=size, style=style)
            )
            if value >= 0.095:
                parts.append(text(x + CELL / 2.0, y + CELL / 2.0 + 4.5, f"{value:.1f}", colour=INK))
    largest = "; ".join(
        f"{name}: {max(row):.2f} for {columns[list(row).index(max(row))]}"
        for name, row in zip(rows, values, strict=True)
    )
    width, height = LEFT + len(columns) * CELL + 6.0, TOP + len(rows) * CELL + 6.0
    return Picture(svg(width, height, *parts), alt or f"The largest number of each row. {largest}.")
