"""Equations of matrices, drawn as boxes with a cell for each element."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from drawings.picture import COLOURS, INK, MUTED, RULE, Picture, element, svg, text

SPACE, LABEL, MARGIN = 13.0, 22.0, 4.0


@dataclass(frozen=True)
class Matrix:
    """A matrix in an equation.

    Attributes:
        name: its name, which is written below it with its size; a matrix, its transpose
            and its gradient have the same color.
        rows: the number of rows.
        columns: the number of columns.
        marked: the areas to fill, pairs of a range of rows and a range of columns.
        size: the size to write instead of the numbers of rows and columns.
    """

    name: str
    rows: int
    columns: int
    marked: Sequence[tuple[range, range]] = ()
    size: str = ""

    @property
    def label(self) -> str:
        """The line below the matrix."""
        return f"{self.name} {self.size or f'{self.rows}×{self.columns}'}"


def equations(
    *lines: Sequence[Matrix | str], unit: float = 22.0, alt: str = "", filled: bool = True
) -> Picture:
    """Draw equations below each other.

    Args:
        *lines: for each equation, its matrices and signs.
        unit: the side of a cell.
        alt: the text alternative; by default the equations in words.
        filled: whether matrices without marked areas are filled.
    """
    names = [part.name for line in lines for part in line if isinstance(part, Matrix)]
    colours = dict(zip(dict.fromkeys(map(_letter, names)), COLOURS, strict=False))
    parts, y, right = [], MARGIN, 0.0
    for line in lines:
        matrices = [part for part in line if isinstance(part, Matrix)]
        height = unit * max((matrix.rows for matrix in matrices), default=1)
        x = MARGIN
        for part in line:
            if isinstance(part, str):
                width = 8.5 * len(part)
                parts.append(text(x + width / 2.0, y + height / 2.0 + 4.5, part))
            else:
                width = max(unit * part.columns, 6.8 * len(part.label))
                left = x + (width - unit * part.columns) / 2.0
                top = y + (height - unit * part.rows) / 2.0
                parts += _box(part, left, top, unit, colours.get(_letter(part.name), INK), filled)
                middle = left + unit * part.columns / 2.0
                below = top + unit * part.rows + 16.0
                parts.append(text(middle, below, part.label, colour=MUTED))
            x += width + SPACE
        right = max(right, x - SPACE)
        y += height + LABEL + SPACE
    words = alt or "; ".join(" ".join(map(_in_words, line)) for line in lines)
    return Picture(svg(right + MARGIN, y - SPACE + MARGIN, *parts), words)


def gradients_of_product(n: int, m: int, k: int) -> Picture:
    """Draw the product of an n by m and an m by k matrix, and the products for its gradients."""
    a, b, g = Matrix("a", n, m), Matrix("b", m, k), Matrix("g", n, k)
    return equations(
        [a, "@", b, "=", Matrix("c", n, k)],
        [g, "@", Matrix("bᵀ", k, m), "=", Matrix("gradient of a", n, m)],
        [Matrix("aᵀ", m, n), "@", g, "=", Matrix("gradient of b", m, k)],
    )


def _box(matrix: Matrix, x: float, y: float, unit: float, colour: str, filled: bool) -> list[str]:
    """Return a grid of cells, with its marked areas."""
    width, height = unit * matrix.columns, unit * matrix.rows
    whole = [(range(matrix.rows), range(matrix.columns))] if filled else []
    parts = []
    for rows, columns in matrix.marked or whole:
        left, top = x + unit * columns.start, y + unit * rows.start
        across, down = unit * len(columns), unit * len(rows)
        style = f"fill: {colour}; opacity: {0.55 if matrix.marked else 0.3}"
        parts.append(element("rect", x=left, y=top, width=across, height=down, style=style))
    path = [f"M{x + unit * i:g} {y:g}v{height:g}" for i in range(1, matrix.columns)]
    path += [f"M{x:g} {y + unit * i:g}h{width:g}" for i in range(1, matrix.rows)]
    parts.append(element("path", d="".join(path), style=f"fill: none; stroke: {RULE}"))
    frame = f"fill: none; stroke: {colour}; stroke-width: 1.5"
    parts.append(element("rect", x=x, y=y, width=width, height=height, style=frame))
    return parts


def _letter(name: str) -> str:
    """Return the name of a matrix, given that of its transpose or its gradient."""
    return name.removesuffix("ᵀ").removeprefix("gradient of ")


def _in_words(part: Matrix | str) -> str:
    """Return a part of an equation in words, for the text alternative."""
    if isinstance(part, str):
        return {"@": "times", "=": "equals"}.get(part, part)
    size = part.size or f"{part.rows} by {part.columns}"
    return f"{re.sub('ᵀ', ' transposed', part.name)} ({size})"
