"""Sliding windows along a dimension, as a view, and their adjoint, which sums windows."""

from __future__ import annotations

from typing import Any

from mt_tensor.core.arguments import as_integer
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.errors import IndexingError, ShapeError
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.linear import LinearFunction, ViewFunction
from mt_tensor.core.plans import ADD
from mt_tensor.core.strides import Shape, normalize_dim
from mt_tensor.core.subscripts import FULL_SLICE, Select
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData


class Unfold(ViewFunction):
    """View sliding windows along a dimension as a new last dimension; they may overlap."""

    @staticmethod
    def layout(layout: Layout, dim: int, size: int, step: int) -> Layout:
        sizes, strides = layout.shape, layout.strides
        count, stride = (sizes[dim] - size) // step + 1, strides[dim]
        return layout.like(
            (*sizes[:dim], count, *sizes[dim + 1 :], size),
            (*strides[:dim], stride * step, *strides[dim + 1 :], stride),
            layout.offset,
        )

    @staticmethod
    def backward(grad: Tensor, source: Any, dim: int, size: int, step: int) -> Tensor:
        return Fold.apply(grad, dim, source.shape[dim], step)


class Fold(LinearFunction):
    """Add up windows at the positions where `Unfold` reads them; its adjoint."""

    @staticmethod
    def forward(x: Tensor, dim: int, size: int, step: int) -> TensorData:
        data, backend, dtype = x._tensor, x.backend, x.dtype
        if dtype.is_narrow:  # rounded once, after the sum
            data = backend.copy(data, row_major(data.shape, dtype.computed))
        result = _zeros_like(data, (*data.shape[:dim], size, *data.shape[dim + 1 : -1]), backend)
        before, stop = [FULL_SLICE] * dim, step * (data.shape[dim] - 1) + 1
        for k in range(data.shape[-1]):  # element k of all windows: a strided slice
            part = Select.region(result, data.shape[:-1], [*before, slice(k, k + stop, step)])
            ADD.change(backend, (part,), part, Select.view(data, [*[FULL_SLICE] * result.ndim, k]))
        return backend.copy(result, row_major(result.shape, dtype)) if dtype.is_narrow else result

    @staticmethod
    def backward(grad: Tensor, source: Any, dim: int, _: int, step: int) -> Tensor:
        return Unfold.apply(grad, dim, source.shape[-1], step)


def _zeros_like(data: TensorData, shape: Shape, backend: TensorBackend) -> TensorData:
    """Return zeros of a shape, with the memory order of the first dimensions of a view."""
    order = sorted(range(len(shape)), key=lambda d: -abs(data.strides[d]))
    zeros = backend.full(tuple([shape[d] for d in order]), data.dtype, 0)
    return zeros.permute(*[order.index(d) for d in range(len(shape))])


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return windows of `size` elements, `step` apart, as a new last dimension.

    Raises:
        IndexingError: the dimension is out of range, or the tensor is 0-D.
        ShapeError: `size` is negative or exceeds the dimension, or `step` is not positive.
    """
    if not self.ndim:
        raise IndexingError("unfold() needs at least one dimension; a 0-D tensor was given.")
    d = normalize_dim(dimension, self.ndim)
    size, step = as_integer("size", size), as_integer("step", step)
    if not 0 <= size <= self.shape[d] or step < 1:
        raise ShapeError(
            f"unfold() takes a size from 0 to {self.shape[d]} and a positive step; "
            f"{size} and {step} were given."
        )
    return Unfold.apply(self, d, size, step)
