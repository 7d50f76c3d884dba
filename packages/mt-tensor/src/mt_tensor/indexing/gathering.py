"""Reading along one dimension by a tensor of indices, and its inverse.

Views cannot show elements in any order and any number of times. For that there are the contract's
`gather` and, backward, `scatter`, which adds up the gradients of an element that was read several
times. All that the library has of indexing by tensors is made of these two.
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

_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
"""Unsigned integers by their bytes."""


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
    """Check an index for gather or scatter against the tensor it points into; return `dim`."""
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


def lies_within(index: Tensor, extent: int) -> bool:
    """Whether all indices of a tensor of integers are between 0 and `extent` - 1."""
    array = index.backend.to_host(index._tensor)  # a look costs less than a reduction by a backend
    unsigned = array.view(_UNSIGNED[array.itemsize])  # in which negative numbers are the largest
    return not array.size or bool(np.maximum.reduce(unsigned, None) < extent)


def check_range(index: Tensor, extent: int, what: str) -> None:
    """Raise IndexingError unless all indices into something are between 0 and `extent` - 1."""
    if not lies_within(index, extent):
        array = index.backend.to_host(index._tensor)
        wrong = array.min() if array.min() < 0 else array.max()
        raise IndexingError(f"index {wrong} is out of range for {what} with {extent} element(s).")


@operation
def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return `input[i][index[i][j][k]][k]` for `dim` 1 of 3, with the shape of `index`.

    Raises:
        DTypeError: `index` is not int64.
        ShapeError: `index` has other dimensions than `input`, or is too long in one.
        IndexingError: an index is out of range.
    """
    return Gather.apply(input, check_index("gather", input, dim, index), index)
