"""A kernel that slides over an image: its position, the products there, and their sum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import mt_tensor as mt
from mt_autodiff.drawing.svg import document, text
from mt_nn.functional import conv2d
from mt_tensor.extending import Array
from play.expressions import ExpressionError, number

LARGEST = 5
"""The maximum height and width of a kernel."""

CELL = 36.0

STYLE = """
.mt-slide{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px;
max-width:100%;height:auto}
.mt-slide text{fill:#1c2733;text-anchor:middle}
.mt-slide .head,.mt-slide .sign{font-size:14px}
.mt-slide .head{text-anchor:start}
.mt-slide .cell{stroke:#66788a;stroke-opacity:.35}
.mt-slide .around{stroke-dasharray:2 3}
.mt-slide .window{fill:none;stroke:#3f9b57;stroke-width:3.5}
@media (prefers-color-scheme:dark){
.mt-slide text{fill:#e8eef5}
}
"""


@dataclass(frozen=True)
class Sliding:
    """A convolution with one channel and one kernel.

    Attributes:
        image: shape (height, width).
        kernel: shape (rows, columns).
        stride: the step of the kernel.
        padding: the number of zeros around the image.
    """

    image: Array
    kernel: Array
    stride: int
    padding: int

    @property
    def padded(self) -> Array:
        """The image with its padding."""
        return np.pad(self.image, self.padding)

    def output(self) -> Array:
        """Return the result of `conv2d`, shape (rows, columns).

        Raises:
            InputError: the kernel is larger than the padded image.
        """
        image, kernel = (mt.tensor(each[None, None]) for each in (self.image, self.kernel))
        result = conv2d(image, kernel, stride=self.stride, padding=self.padding)
        output: Array = np.array(result, np.float64)[0, 0]
        return output

    def place(self, position: int) -> tuple[int, int]:
        """Return the row and column of a position in the output, counted row by row."""
        columns: int = (self.padded.shape[1] - self.kernel.shape[1]) // self.stride + 1
        return divmod(position, columns)

    def window(self, position: int) -> Array:
        """Return the part of the padded image below the kernel."""
        row, column = (self.stride * each for each in self.place(position))
        return self.padded[row : row + self.kernel.shape[0], column : column + self.kernel.shape[1]]

    def products(self, position: int) -> Array:
        """Return the products at a position, whose sum is an element of the output."""
        return np.asarray(self.window(position) * self.kernel, np.float64)


def read_kernel(written: str) -> Array:
    """Parse a kernel with one row per line, as float32.

    Raises:
        ExpressionError: it is invalid, or too large.
    """
    rows = [line.replace(",", " ").split() for line in written.strip().splitlines()]
    if not rows:
        raise ExpressionError("the kernel is empty: write one row per line.")
    widths = sorted({len(row) for row in rows})
    if len(widths) > 1 or widths[0] == 0:
        raise ExpressionError(
            f"the rows of a kernel must have equal lengths, not {widths[0]} and {widths[-1]}."
        )
    if max(len(rows), widths[0]) > LARGEST:
        raise ExpressionError(
            f"a kernel may have at most {LARGEST} x {LARGEST} numbers, not {len(rows)} x "
            f"{widths[0]}."
        )
    return np.array([[number(each) for each in row] for row in rows], np.float32)


def draw_sliding(sliding: Sliding, output: Array, position: int) -> str:
    """Draw the image with the kernel on it, and the output up to this position, as SVG."""
    padded, padding = sliding.padded, sliding.padding
    height, width = padded.shape
    row, column = sliding.place(position)
    right = (width + 1.5) * CELL
    shown = np.full(output.size, np.nan)
    shown[: position + 1] = output.ravel()[: position + 1]
    known = np.arange(output.size).reshape(output.shape) <= position
    inside = np.pad(np.ones(sliding.image.shape, bool), padding)
    elements = [
        text("head", 0, 14, "image"),
        *_grid(padded, 0.0, around=~inside),
        _frame(
            column * sliding.stride * CELL,
            row * sliding.stride * CELL,
            sliding.kernel.shape,
        ),
        text("head", right, 14, f"output, {output.shape[0]} x {output.shape[1]}"),
        *_grid(shown.reshape(output.shape), right, around=~known),
        _frame(right + column * CELL, row * CELL, (1, 1)),
    ]
    size = (right + max(output.shape[1], 4) * CELL + 3, 25 + max(height, output.shape[0]) * CELL)
    title = f"The kernel at row {row + 1}, column {column + 1} of the output"
    return document("mt-slide", title, size, STYLE, elements)


def draw_products(sliding: Sliding, position: int) -> str:
    """Draw the window, the kernel and their products in a row, as SVG."""
    rows, columns = sliding.kernel.shape
    parts = (
        ("window", sliding.window(position)),
        ("kernel", sliding.kernel),
        ("products", sliding.products(position)),
    )
    elements, x = [], 0.0
    for (name, numbers), sign in zip(parts, "×=", strict=False):
        elements += [text("head", x, 14, name), *_grid(numbers, x)]
        x += columns * CELL + 30
        elements.append(text("sign", x - 15, 24 + rows * CELL / 2, sign))
    elements += [text("head", x, 14, "products"), *_grid(parts[2][1], x)]
    title = "The window times the kernel gives the products"
    return document(
        "mt-slide",
        title,
        (max(x + columns * CELL, x + 70) + 3, 25 + rows * CELL),
        STYLE,
        elements,
    )


def sum_of(products: Array) -> str:
    """Return the sum of products as a formula."""
    written = " + ".join(f"{x + 0.0:.4g}" if x >= 0 else f"({x:.4g})" for x in products.ravel())
    return f"{written} = {products.sum():.6g}"


def _grid(numbers: Array, x: float, around: Array | None = None) -> list[str]:
    """Return the cells of a matrix; those in `around` are dashed, and nan is left empty."""
    finite = np.abs(numbers[np.isfinite(numbers)])
    reach = float(finite.max(initial=0.0)) or 1.0
    elements = []
    for (row, column), value in np.ndenumerate(numbers):
        left, top = x + column * CELL + 1.5, 22 + row * CELL
        outside = around is not None and bool(around[row, column])
        strength = abs(value) / reach * 0.75 if math.isfinite(value) else 0.0
        colour = "#3b82c4" if value > 0 else "#d1622b"
        kind = "cell around" if outside else "cell"
        elements.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{CELL}" height="{CELL}" '
            f'fill="{colour}" fill-opacity="{strength:.3f}"/>'
        )
        if not (outside and math.isnan(value)):
            elements.append(text("number", left + CELL / 2, top + CELL / 2 + 4, _short(value)))
    return elements


def _short(value: float) -> str:
    """Format a number to fit into a cell."""
    text = f"{value + 0.0:.3g}"
    return text if len(text) < 6 else f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")


def _frame(x: float, y: float, shape: tuple[int, ...]) -> str:
    return (
        f'<rect class="window" x="{x + 1.5:.1f}" y="{y + 22:.1f}" width="{shape[1] * CELL}" '
        f'height="{shape[0] * CELL}"/>'
    )
