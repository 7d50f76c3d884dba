"""Diagonals and triangles of matrices and batches of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.backends import TensorBackend
from mt_tensor.checks import check_dimensions, validate_call
from mt_tensor.core.arguments import as_integer
from mt_tensor.core.creation import from_values
from mt_tensor.core.dtypes import bool_
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import ViewFunction
from mt_tensor.core.strides import Shape, normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.recording.functions import Function
from mt_tensor.tape import cached_constants


class Diagonal(ViewFunction):
    """View the diagonal of two dimensions as a new last dimension."""

    @staticmethod
    def layout(layout: Layout, offset: int, dim1: int, dim2: int) -> Layout:
        shape, strides = layout.shape, layout.strides
        down, right = max(-offset, 0), max(offset, 0)
        length = max(min(shape[dim1] - down, shape[dim2] - right), 0)
        rest = [d for d in range(len(shape)) if d not in (dim1, dim2)]
        start = down * strides[dim1] + right * strides[dim2] if length else 0
        return layout.like(
            (*(shape[d] for d in rest), length),
            (*(strides[d] for d in rest), strides[dim1] + strides[dim2]),
            layout.offset + start,
        )

    @staticmethod
    def backward(grad: Tensor, source: Any, *where: int) -> Tensor:
        return OnDiagonal.apply(grad, source.shape, *where)


class OnDiagonal(Function):
    """Store elements along a diagonal of a zero tensor; the adjoint of `Diagonal`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, shape: Shape, offset: int, dim1: int, dim2: int) -> Tensor:
        ctx.where = (offset, dim1, dim2)
        data = x.backend.full(shape, x.dtype, 0)
        x.backend.copy(x._tensor, Diagonal.region(data, x.shape, *ctx.where))
        return x._with(data)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return Diagonal.apply(grad, *ctx.where), None, None, None, None


@validate_call
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a view of a diagonal: two dimensions are replaced by a new last one.

    Args:
        input: at least two dimensions.
        offset: the diagonal: 0 for the main one, positive above it, negative below.
        dim1: the dimension of rows.
        dim2: the dimension of columns.

    Raises:
        IndexingError: a dimension is out of range, or both are the same.
    """
    offset = as_integer("diagonal(): offset", offset)
    first, second = normalize_dim(dim1, input.ndim), normalize_dim(dim2, input.ndim)
    if first == second:
        raise IndexingError(f"diagonal() needs two dimensions; {dim1} and {dim2} are the same.")
    return Diagonal.apply(input, offset, first, second)


@validate_call
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a matrix with a 1-D tensor on a diagonal, or a copy of a diagonal of a matrix.

    Args:
        input: a vector of n elements, for an m×m matrix with m = n + abs(diagonal); or a matrix.
        diagonal: 0 for the main diagonal, positive above it, negative below.

    Raises:
        ShapeError: `input` is neither 1-D nor 2-D.
        TypeError: `diagonal` is not an integer.
    """
    offset = as_integer("diag(): diagonal", diagonal)
    if input.ndim == 2:
        return Diagonal.apply(input, offset, 0, 1).clone()
    if input.ndim != 1:
        raise ShapeError(f"diag() takes a 1-D or 2-D tensor; shape {input.shape} was given.")
    size = input.numel() + abs(offset)
    return OnDiagonal.apply(input, (size, size), offset, 0, 1)


@validate_call
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a copy with zeros above a diagonal of the last two dimensions.

    Args:
        input: at least two dimensions.
        diagonal: 0 for the main diagonal, positive above it, negative below.

    Raises:
        ShapeError: `input` has fewer than two dimensions.
    """
    return _zeroed_triangle("tril", input, diagonal, upper=True)


@validate_call
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a copy with zeros below a diagonal of the last two dimensions.

    Args:
        input: at least two dimensions.
        diagonal: 0 for the main diagonal, positive above it, negative below.

    Raises:
        ShapeError: `input` has fewer than two dimensions.
    """
    return _zeroed_triangle("triu", input, diagonal, upper=False)


def _zeroed_triangle(name: str, input: Tensor, diagonal: int, upper: bool) -> Tensor:
    """Return a copy with zeros above or below a diagonal."""
    offset = as_integer(f"{name}(): diagonal", diagonal)
    check_dimensions(name, 2, input)
    offset = min(max(offset, -input.shape[-2]), input.shape[-1])  # equivalent beyond these
    mask = _triangle(*input.shape[-2:], offset, upper, input.backend)
    return input.masked_fill(mask, 0)


@cached_constants(8)
def _triangle(height: int, width: int, offset: int, upper: bool, backend: TensorBackend) -> Tensor:
    """Return a mask of the elements above or below a diagonal.

    The mask is cached, so that it is copied to a device once, and must not be changed.
    """
    rows, columns = np.ogrid[:height, :width]
    mask = columns > rows + offset if upper else columns < rows + offset
    return from_values(mask, bool_, backend)
