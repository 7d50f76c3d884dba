"""Reading along one dimension by tensors of indices, and its inverse.

What views cannot show, elements in any order and any number of times, a backend gathers; backward,
it scatters, and adds up what comes to one place. All that the library knows of indexing by tensors
is made of these two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_operators import OPERATORS
from mt_tensor.dtypes import int64
from mt_tensor.errors import DTypeError, IndexingError, ShapeError
from mt_tensor.public import operation
from mt_tensor.recording.function import Function, common_backend, require_tensors
from mt_tensor.strides import Shape, normalize_dim
from mt_tensor.tensor import Tensor

ADD = OPERATORS["add"]

_UNSIGNED = np.dtype(np.uint64)
"""Of this type, negative numbers are the largest."""


class Gather(Function):
    """Elements read along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor) -> Tensor:
        ctx.dim, ctx.shape = dim, x.shape
        ctx.save_for_backward(index)
        return x._with(x.backend.gather(x._tensor, dim, index._tensor))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return Collect.apply(grad, ctx.dim, index, ctx.shape), None, None


class Collect(Function):
    """Elements added up along a dimension of a tensor that is 0 elsewhere; undoes `Gather`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int, index: Tensor, shape: Shape) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(index)
        out = x.backend.full(shape, x.dtype, 0)
        x.backend.scatter(x._tensor, dim, index._tensor, out, ADD)
        return x._with(out)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (index,) = ctx.saved_tensors
        return Gather.apply(grad, ctx.dim, index), None, None, None


def check_index(name: str, x: Tensor, dim: int, index: Tensor) -> int:
    """Check an index for gather or scatter against the tensor it points into."""
    require_tensors(name, x, index)
    common_backend(x, index)
    dim = normalize_dim(dim, x.ndim)
    if x.ndim == 0:
        raise IndexingError(f"{name}() needs a tensor with at least one dimension.")
    if index.dtype is not int64:
        raise DTypeError(f"{name}() takes an index of int64; {index.dtype.name} was given.")
    if index.ndim != x.ndim or any(
        wanted > extent and d != dim
        for d, (wanted, extent) in enumerate(zip(index.shape, x.shape, strict=True))
    ):
        raise ShapeError(
            f"{name}() along dimension {dim}: an index of shape {index.shape} does not fit a "
            f"tensor of shape {x.shape}. It needs as many dimensions, none longer but {dim}."
        )
    check_range(index, x.shape[dim], f"dimension {dim}")
    return dim


def lowest_and_highest(index: Tensor) -> tuple[int, int]:
    """Return the limits between which the indices of a tensor lie, which has elements."""
    array = index.backend.to_host(index._tensor)  # a look costs less than two reductions
    return int(array.min()), int(array.max())


def lies_within(index: Tensor, extent: int) -> bool:
    """Whether all indices of int64 are between 0 and `extent` - 1."""
    data = index._tensor
    if data.layout.dtype is not int64 or not data.layout.size:
        return False
    array = index.backend.to_host(data)
    return int(np.maximum.reduce(array.view(_UNSIGNED), None)) < extent


def check_range(index: Tensor, extent: int, what: str) -> None:
    """Raise IndexingError unless all indices into something are between 0 and `extent` - 1."""
    if not index.numel() or lies_within(index, extent):
        return
    low, high = lowest_and_highest(index)
    if low < 0 or high >= extent:
        raise IndexingError(
            f"index {low if low < 0 else high} is out of range for {what} with {extent} element(s)."
        )


@operation
def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return `input[i][index[i][j][k]][k]` for `dim` 1 of 3, with the shape of `index`.

    Raises:
        DTypeError: `index` is not int64.
        ShapeError: `index` has other dimensions than `input`, or is too long in one.
        IndexingError: an index is out of range.
    """
    return Gather.apply(input, check_index("gather", input, dim, index), index)
