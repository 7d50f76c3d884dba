"""A kernel that slides over an image: the window, the products, and the output so far."""

from __future__ import annotations

from collections.abc import Sequence

from drawings.grid import CELL, cells, frame
from drawings.picture import Picture, Steps, svg, text

TOP, GAP = 24.0, 26.0


def sliding(image: Sequence[Sequence[float]], kernel: Sequence[Sequence[float]]) -> Steps:
    """Draw the positions of a kernel, one picture for each.

    Args:
        image: rows of numbers.
        kernel: rows of numbers.
    """
    rows, columns = len(image), len(image[0])
    height, width = len(kernel), len(kernel[0])
    out_rows, out_columns = rows - height + 1, columns - width + 1
    outputs: list[list[float | None]] = [[None] * out_columns for _ in range(out_rows)]
    everything = [
        [_product(image, kernel, i, j) for j in range(out_columns)] for i in range(out_rows)
    ]
    reach = max(abs(value) for row in everything for value in row)
    pictures = []
    for i in range(out_rows):
        for j in range(out_columns):
            outputs[i][j] = everything[i][j]
            caption = f"{_terms(image, kernel, i, j)} = {everything[i][j]:g}"
            place = f"The window at row {i}, column {j} of the output: "
            parts = [
                text(1.5, 14.0, "image", "start"),
                cells(image, 2.0, TOP),
                frame(i, j, height, width, 2.0, TOP),
            ]
            x = 2.0 + columns * CELL + GAP
            parts += [text(x, 14.0, "kernel", "start"), cells(kernel, x, TOP)]
            x += width * CELL + GAP
            parts += [text(x, 14.0, "output", "start"), cells(outputs, x, TOP, reach=reach)]
            parts.append(frame(i, j, 1, 1, x, TOP))
            size = x + out_columns * CELL + 2.0, TOP + rows * CELL + 2.0
            pictures.append((caption, Picture(svg(*size, *parts), place + caption)))
    return Steps(pictures)


def _product(
    image: Sequence[Sequence[float]], kernel: Sequence[Sequence[float]], row: int, column: int
) -> float:
    """Return the sum of the products of a kernel and the window below it."""
    return sum(
        factor * image[row + i][column + j]
        for i, line in enumerate(kernel)
        for j, factor in enumerate(line)
    )


def _terms(
    image: Sequence[Sequence[float]], kernel: Sequence[Sequence[float]], row: int, column: int
) -> str:
    """Return the sum of `_product` as text, without the products that are 0."""
    terms = [
        f"{factor:g}·{image[row + i][column + j]:g}"
        for i, line in enumerate(kernel)
        for j, factor in enumerate(line)
        if factor * image[row + i][column + j]
    ]
    return " + ".join(terms).replace("+ -", "− ") or "0"
