"""Gather: read along a dimension by a tensor of indices.

Views cannot repeat or reorder elements arbitrarily; the contract's `gather` can. Its gradient is a
`scatter`, which adds up the gradients of an element that was read several times. All indexing by
tensors is composed from these two.
"""

from __future__ import annotations

from typing import Any

from mt_operators import OPERATORS
from mt_tensor.core.arguments import numpy_names
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import int32, int64
from mt_tensor.core.errors import DTypeError, IndexingError, ShapeError
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import LinearFunction
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import Shape, normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.core.views import cache_layouts

ADD = OPERATORS["add"]


class Gather(LinearFunction):
    """Read elements along a dimension."""

    saves_index = True

    @staticmethod
    def forward(x: Tensor, index: Tensor, dim: int) -> TensorData:
        return x.backend.gather(x._tensor, dim, index._tensor)

    @staticmethod
    def backward(grad: Tensor, source: Any, index: Tensor, dim: int) -> Tensor:
        return Collect.apply(grad, index, dim, source.shape)


class Collect(LinearFunction):
    """Add elements at indices along a dimension of a zero tensor; the adjoint of `Gather`."""

    saves_index = True

    @staticmethod
    def forward(x: Tensor, index: Tensor, dim: int, shape: Shape) -> TensorData:
        out = x.backend.full(shape, x.dtype, 0)
        x.backend.scatter(x._tensor, dim, index._tensor, out, ADD)
        return out

    @staticmethod
    def backward(grad: Tensor, _: Any, index: Tensor, dim: int, __: Shape) -> Tensor:
        return Gather.apply(grad, index, dim)


def checked_index(name: str, x: Tensor, dim: int, index: Tensor) -> tuple[int, Tensor]:
    """Check the arguments of gather or scatter.

    Returns:
        The normalized `dim` and the checked index.
    """
    require_tensors(name, x, index)
    common_backend(x, index)
    shape = x._tensor.layout.shape
    dim = _indexed_dim(name, shape, normalize_dim(dim, len(shape)), index._tensor.layout)
    index = cast(index, int64)
    return dim, in_range(index, shape[dim], (f"{name}()", f"dimension {dim}"))


@cache_layouts
def _indexed_dim(name: str, shape: Shape, dim: int, index: Layout) -> int:
    """Return the dimension along which an index of this layout reads or writes."""
    if not shape:
        raise IndexingError(f"{name}() needs at least one dimension; a 0-D tensor was given.")
    if index.dtype not in (int64, int32):
        raise DTypeError(
            f"{name}() takes an index of int64 or int32; {index.dtype.name} was given."
        )
    if len(index.shape) != len(shape) or any(
        length > size and d != dim
        for d, (length, size) in enumerate(zip(index.shape, shape, strict=True))
    ):
        raise ShapeError(
            f"{name}() along dimension {dim}: an index of shape {index.shape} does not fit a "
            f"tensor of shape {shape}. It must have as many dimensions, and may only be longer "
            f"in dimension {dim}."
        )
    return dim


def in_range(index: Tensor, size: int, where: tuple[str, str], negative: bool = False) -> Tensor:
    """Return indices checked to be in range; see `TensorBackend.checked_indices`."""
    given = index._tensor
    checked = index.backend.checked_indices(given, size, where, negative)
    return index if checked is given else index._with(checked)


@numpy_names
def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return `input[i][index[i][j][k]][k]` for `dim` 1 of 3, with the shape of `index`.

    Raises:
        DTypeError: `index` is neither int64 nor int32.
        ShapeError: `index` differs in rank from `input`, or is longer in another dimension.
        IndexingError: `dim` or an index is out of range, or `input` is 0-D.
    """
    dim, index = checked_index("gather", input, dim, index)
    return Gather.apply(input, index, dim)
