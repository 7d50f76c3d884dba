"""Whole slices along a dimension, by tensors that name them: rows of an embedding, for example."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mt_tensor.backends.devices import HOST
from mt_tensor.checks import validate_call
from mt_tensor.core.gathering import Collect, Gather, in_range
from mt_tensor.core.layout import CACHE_SIZE, Layout, layout_of
from mt_tensor.core.linear import LinearFunction
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import Shape, normalize_dim
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import DTypeError, IndexingError
from mt_tensor.movement.joining import stack


class GatherSlices(LinearFunction):
    """Slices along a dimension; the dimensions of the index take its place."""

    saves_index = True

    @staticmethod
    def forward(x: Tensor, index: Tensor, dim: int) -> TensorData:
        data, shape = x._tensor, x._tensor.layout.shape
        in_one_row = len(index._tensor.layout.shape) == 1
        row = index if in_one_row else index.reshape(-1)
        slices = x.backend.gather(data, dim, _spread(row._tensor, dim, shape))
        if not in_one_row:
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
    """Return a view of a 1-D index that names whole slices along `dim` of a tensor of `shape`."""
    return index._with(_spread(index._tensor, dim, shape))


def _spread(index: TensorData, dim: int, shape: Shape) -> TensorData:
    return index.with_layout(_spread_layout(index.layout, dim, shape))


@functools.lru_cache(CACHE_SIZE)
def _spread_layout(index: Layout, dim: int, shape: Shape) -> Layout:
    before, after = shape[:dim], shape[dim + 1 :]
    strides = (*(0,) * len(before), *index.strides, *(0,) * len(after))
    return layout_of(index.dtype, (*before, *index.shape, *after), strides, index.offset)


def checked_1d_index(name: str, input: Tensor, dim: int, index: Tensor) -> tuple[int, Tensor]:
    """Check an index that names whole slices along `dim`.

    Returns:
        `dim`, counted from the front, and the index as int64.

    Raises:
        DTypeError: it is not an integer tensor.
        IndexingError: it is not 1-D, an index is out of range, or `input` is 0-D.
    """
    if index.backend is not input.backend:
        common_backend(input, index)
    shape = input._tensor.layout.shape
    if index.ndim != 1:
        raise IndexingError(f"{name}() takes a 1-D index; shape {index.shape} was given.")
    if index.dtype.kind != "integer":
        raise DTypeError(f"{name}() takes an index of integers; {index.dtype.name} was given.")
    dim = normalize_dim(dim, len(shape))
    if not shape:
        raise IndexingError(f"{name}() needs a tensor with at least one dimension.")
    return dim, in_range(index, shape[dim], (f"{name}()", f"dimension {dim}"))


@validate_call
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of `input` along `dim` that a 1-D tensor of indices names.

    Raises:
        DTypeError: `index` is not an integer tensor.
        IndexingError: `index` is not 1-D, or an index is out of range.
    """
    dim, index = checked_1d_index("index_select", input, dim, index)
    return GatherSlices.apply(input, index, dim)


def gather_unchecked(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements at valid indices along `dim`, to which the gradient then goes."""
    return Gather.apply(x, index, dim) if x.ndim else x.clone()


def element_numbers(x: Tensor) -> Tensor:
    """Return the elements' numbers, row by row: what an index shows of them tells what it names."""
    return x._uploaded(np.arange(x.numel()).reshape(x.shape))


def lowest_and_highest(index: Tensor) -> tuple[int, int]:
    """Return the least and the greatest of some integers; 0 and -1 of none."""
    if not index.numel():
        return 0, -1
    if index.backend.device != HOST:
        low, high = stack([index.amin(), index.amax()]).tolist()  # which are read at one time
        return low, high
    array = index.backend.to_host(index._tensor)  # a look costs less than two reductions
    return int(array.min()), int(array.max())
