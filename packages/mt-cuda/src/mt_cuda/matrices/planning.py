"""From two matrices to the launches of their product: how they lie, the kernel and its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.layout import Layout, Strides, merge
from mt_cuda.core.machine import Size
from mt_cuda.core.matrix import total_type
from mt_cuda.matrices.product import Product
from mt_cuda.matrices.strips import Factor
from mt_cuda.matrices.tiles import Cut, choose, lanes_of
from mt_tensor import TensorData, float32
from mt_tensor.backends.extending import are_products_exact

LARGEST = 2**31
"""What no dimension may reach: within a matrix, indices have 32 bits."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A product, ready for the machine.

    Attributes:
        form: what its kernel is generated for.
        cut: how it is cut up.
        numbers: the numbers of the kernel.
    """

    form: Product
    cut: Cut
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A factor as the kernel sees it: its outer dimension is that which the result has, too.

    Attributes:
        data: the factor.
        outer: the length of the outer dimension.
        inner: that of the inner one.
        strides: the steps in both.
        steps: those from matrix to matrix.
    """

    data: TensorData
    outer: int
    inner: int
    strides: tuple[int, int]
    steps: Strides

    def lies(self, width: int, depth: int) -> Factor:
        """Say how it lies in memory, where strips of it have that length, outer and inner."""
        outer, inner = (abs(stride) for stride in self.strides)
        by_inner = self.inner > 1 and (self.outer == 1 or inner <= outer)
        if by_inner:
            near, length, strip, far = self.strides[1], self.inner, depth, self.strides[0]
        else:
            near, length, strip, far = self.strides[0], self.outer, width, self.strides[1]
        lanes = lanes_of(self.data.dtype)
        even = (self.data.offset, length, strip, far, *self.steps)
        return Factor(by_inner, near == 1 and not any(number % lanes for number in even))


def plan(
    a: TensorData, b: TensorData, size: Size, *, biased: bool = False, summed: bool = False
) -> Planned | None:
    """Plan the product of matrices of `(..., rows, inner)` and `(..., inner, columns)`.

    Args:
        a: the left factor; its leading dimensions are those of the result.
        b: the right factor; the same.
        size: of the machine.
        biased: whether there is a number for each column, which is added to it.
        summed: whether the sums of the rows of `a`, which has no leading dimensions, are wanted.

    Returns:
        None if that is nothing for this kernel: numbers that are no floats, or huge dimensions.
    """
    dtype, (batch, rows, inner, columns) = a.dtype, lengths(a, b)
    if not dtype.is_floating_point or max(rows, inner, columns, batch.size) >= LARGEST:
        return None
    total = total_type(dtype)
    cut = choose((batch.size, rows, inner, columns), total, size)
    left = Matrix(a, rows, inner, (a.strides[-2], a.strides[-1]), batch.strides[0])
    right = Matrix(b, columns, inner, (b.strides[-1], b.strides[-2]), batch.strides[1])
    out = total if cut.parts > 1 or summed else dtype
    lanes = lanes_of(total)
    form = Product(
        dtype,
        out,
        cut.tile,
        left.lies(cut.tile.rows, cut.tile.depth),
        right.lies(cut.tile.columns, cut.tile.depth),
        wide=out is total and columns % lanes == 0 and (rows % lanes == 0 or not summed),
        batch=batch.rank,
        biased=biased,
        summed=summed,
        rounded=dtype is float32 and not are_products_exact(),
    )
    numbers = (
        *(batch.size, rows, inner, columns, cut.span),
        *(*left.strides, *right.strides),
        *(*batch.shape[1:], *left.steps, *right.steps),
    )
    return Planned(form, cut, numbers)


def lengths(a: TensorData, b: TensorData) -> tuple[Layout, int, int, int]:
    """Return the matrices of a product, merged, and its rows, inner dimension and columns.

    Left matrices that all meet the same right one are one of many rows.
    """
    (rows, inner), columns = a.shape[-2:], b.shape[-1]
    batch = merge(a.shape[:-2], [a.strides[:-2], b.strides[:-2]])
    if batch.rank and batch.strides[1][-1] == 0 and batch.strides[0][-1] == rows * a.strides[-2]:
        left, right = (strides[:-1] for strides in batch.strides)
        rows, batch = rows * batch.shape[-1], Layout(batch.shape[:-1], (left, right))
    return batch, rows, inner, columns
