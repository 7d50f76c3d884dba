"""Plan a product: the layouts of two matrices, the kernel and its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.layout import NARROW_LIMIT, Layout, Strides, merge
from mt_cuda.core.machine import Size
from mt_cuda.core.matrix import total_type
from mt_cuda.matrices.product import Product
from mt_cuda.matrices.strips import Factor
from mt_cuda.matrices.tiles import Cut, choose, lanes_of
from mt_tensor import TensorData, float32
from mt_tensor.backends.extending import are_products_exact


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned product.

    Attributes:
        form: the parameters of its kernel.
        cut: how it is split.
        numbers: the arguments of the kernel that are passed by value.
    """

    form: Product
    cut: Cut
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A factor as the kernel reads it; its outer dimension is also a dimension of the result.

    Attributes:
        data: the factor.
        outer: the size of the outer dimension.
        inner: the size of the inner dimension.
        strides: the strides of both.
        steps: the strides between matrices.
    """

    data: TensorData
    outer: int
    inner: int
    strides: tuple[int, int]
    steps: Strides

    def factor(self, width: int, depth: int) -> Factor:
        """Return the layout in memory, for strips of `width` outer and `depth` inner elements."""
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
        size: the size of the machine.
        biased: whether to add a bias to each column.
        summed: whether to also compute the sums of the rows of `a`; then there are no leading
            dimensions.

    Returns:
        The plan; None if the kernel does not support the product, because the dtype is not
        floating-point or a dimension is too large.
    """
    dtype, (batch, rows, inner, columns) = a.dtype, lengths(a, b)
    if not dtype.is_floating_point or max(rows, inner, columns, batch.size) >= NARROW_LIMIT:
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
        left.factor(cut.tile.rows, cut.tile.depth),
        right.factor(cut.tile.columns, cut.tile.depth),
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
    """Return the merged batch dimensions of a product, and the sizes `rows`, `inner` and `columns`.

    Left matrices that share one right matrix are merged into one of many rows.
    """
    (rows, inner), columns = a.shape[-2:], b.shape[-1]
    batch = merge(a.shape[:-2], [a.strides[:-2], b.strides[:-2]])
    if batch.rank and batch.strides[1][-1] == 0 and batch.strides[0][-1] == rows * a.strides[-2]:
        left, right = (strides[:-1] for strides in batch.strides)
        rows, batch = rows * batch.shape[-1], Layout(batch.shape[:-1], (left, right))
    return batch, rows, inner, columns
