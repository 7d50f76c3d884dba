"""Overlapping windows along a dimension, as a view, and how they are laid back."""

from __future__ import annotations

from typing import Any

from mt_tensor.checks import as_integer, existing_dim
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.function import Function
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import ViewFunction
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import ShapeError


class Unfold(ViewFunction):
    """Windows along a dimension, which may overlap; the window is a new last dimension."""

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


class Fold(Function):
    """Windows laid back to where they came from, added up where they overlap; undoes `Unfold`."""

    @staticmethod
    def forward(ctx: Any, windows: Tensor, dim: int, extent: int, step: int) -> Tensor:
        ctx.dim, ctx.size, ctx.step = dim, windows.shape[-1], step
        shape = (*windows.shape[:dim], extent, *windows.shape[dim + 1 : -1])
        result = windows._with(_zeros_like(windows._tensor, shape, windows.backend))
        count = windows.shape[dim]
        for k in range(ctx.size):  # the k-th element of every window is one strided slice
            index = [slice(None)] * len(shape)
            index[dim] = slice(k, k + step * (count - 1) + 1 if count else k, step)
            result[tuple(index)] += windows[..., k]
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return Unfold.apply(grad, ctx.dim, ctx.size, ctx.step), None, None, None


def _zeros_like(data: TensorData, shape: Shape, backend: TensorBackend) -> TensorData:
    """Return zeros of a shape whose dimensions, the first of a view, lie in memory as its do."""
    order = sorted(range(len(shape)), key=lambda d: -abs(data.strides[d]))
    zeros = backend.full(tuple([shape[d] for d in order]), data.dtype, 0)
    return zeros.permute(*[order.index(d) for d in range(len(shape))])


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return windows of `size` elements, `step` apart, as a new last dimension.

    Raises:
        ShapeError: the window is longer than the dimension, or `step` is not positive.
    """
    d = existing_dim("unfold", dimension, self.shape)
    size, step = as_integer("size", size), as_integer("step", step)
    if not 0 <= size <= self.shape[d] or step < 1:
        raise ShapeError(
            f"unfold() takes a size from 0 to {self.shape[d]} and a positive step; "
            f"{size} and {step} were given."
        )
    return Unfold.apply(self, d, size, step)
