"""Select slices along a dimension by an index tensor, such as rows of an embedding table."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mt_tensor.backends.devices import HOST
from mt_tensor.checks import existing_dim, validate_call
from mt_tensor.core.gathering import Collect, Gather, in_range
from mt_tensor.core.layout import CACHE_SIZE, Layout, layout_of
from mt_tensor.core.linear import LinearFunction
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import DTypeError, IndexingError
from mt_tensor.movement.joining import stack


class GatherSlices(LinearFunction):
    """Select slices along a dimension, which is replaced by the dimensions of the index."""

    saves_index = True

    @staticmethod
    def forward(x: Tensor, index: Tensor, dim: int) -> TensorData:
        data, shape = x._tensor, x._tensor.layout.shape
        is_1d = len(index._tensor.layout.shape) == 1
        row = index if is_1d else index.reshape(-1)
        slices = x.backend.gather(data, dim, _expand_index(row._tensor, dim, shape))
        if not is_1d:
            shape = (*shape[:dim], *index.shape, *shape[dim + 1 :])
            slices = TensorData(slices.storage, shape, dtype=slices.dtype)
        return slices

    @staticmethod
    def backward(grad: Tensor, source: Any, index: Tensor, dim: int) -> Tensor:
        shape = source.shape
        if index.ndim != 1:
            grad = grad.reshape(*shape[:dim], index.numel(), *shape[dim + 1 :])
            index = index.reshape(-1)
        return Collect.apply(grad, along(index, dim, shape), dim, shape)


def along(index: Tensor, dim: int, shape: Shape) -> Tensor:
    """Expand a 1-D index of slices along `dim` of a tensor of `shape` to an index of elements."""
    return index._with(_expand_index(index._tensor, dim, shape))


def _expand_index(index: TensorData, dim: int, shape: Shape) -> TensorData:
    return index.with_layout(_expanded_layout(index.layout, dim, shape))


@functools.lru_cache(CACHE_SIZE)
def _expanded_layout(index: Layout, dim: int, shape: Shape) -> Layout:
    before, after = shape[:dim], shape[dim + 1 :]
    strides = (*(0,) * len(before), *index.strides, *(0,) * len(after))
    return layout_of(index.dtype, (*before, *index.shape, *after), strides, index.offset)


def checked_1d_index(name: str, input: Tensor, dim: int, index: Tensor) -> tuple[int, Tensor]:
    """Check a 1-D index of slices along `dim`.

    Returns:
        The normalized `dim`, and the index as int64.

    Raises:
        DTypeError: the index is not an integer tensor.
        IndexingError: `dim` or an index is out of range, the index is not 1-D, or `input` is 0-D.
    """
    if index.backend is not input.backend:
        common_backend(input, index)
    shape = input._tensor.layout.shape
    if index.ndim != 1:
        raise IndexingError(f"{name}() takes a 1-D index; shape {index.shape} was given.")
    if index.dtype.kind != "integer":
        raise DTypeError(f"{name}() takes an integer index; {index.dtype.name} was given.")
    dim = existing_dim(name, dim, shape)
    return dim, in_range(index, shape[dim], (f"{name}()", f"dimension {dim}"))


@validate_call
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of `input` along `dim` at the indices of a 1-D tensor.

    Raises:
        DTypeError: `index` is not an integer tensor.
        IndexingError: `dim` or an index is out of range, `index` is not 1-D, or `input` is 0-D.
    """
    dim, index = checked_1d_index("index_select", input, dim, index)
    return GatherSlices.apply(input, index, dim)


def gather_unchecked(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements at indices along `dim`, which must be valid: they are not checked."""
    return Gather.apply(x, index, dim) if x.ndim else x.clone()


def flat_indices(x: Tensor) -> Tensor:
    """Return the flat index of each element; indexing the result shows what an index selects."""
    return x._uploaded(np.arange(x.numel()).reshape(x.shape))


def lowest_and_highest(index: Tensor) -> tuple[int, int]:
    """Return the minimum and the maximum of an integer tensor; 0 and -1 if it is empty."""
    if not index.numel():
        return 0, -1
    if index.backend.device != HOST:
        low, high = stack([index.amin(), index.amax()]).tolist()  # one transfer for both
        return low, high
    array = index.backend.to_host(index._tensor)  # cheaper than two reductions
    return int(array.min()), int(array.max())
