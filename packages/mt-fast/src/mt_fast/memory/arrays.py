"""Convert tensors to the arrays that kernels process, and back."""

from __future__ import annotations

import math

import numpy as np

from mt_fast.memory.aligned import empty
from mt_tensor import Tensor, TensorData, float32, float64
from mt_tensor.backends.extending import row_major
from mt_tensor.extending import Array, Shape, as_dtype


def array_of(tensor: Tensor) -> Array:
    """Return the elements as a contiguous array: the tensor's own memory, if it is contiguous."""
    data = tensor._tensor
    array: Array = data.array
    return array if data.layout.row_major else np.ascontiguousarray(array)


def tensor_of(array: Array, like: Tensor) -> Tensor:
    """Return a new contiguous array as a tensor on the backend of another."""
    dtype = like._tensor.layout.dtype
    if array.dtype is not dtype.numpy:
        dtype = as_dtype(array.dtype)
    return Tensor._make(TensorData.of(array, row_major(array.shape, dtype)), like.backend)


def in_lines(data: TensorData) -> TensorData:
    """Return matrices whose rows are contiguous: the view itself, or a contiguous copy."""
    layout = data.layout
    if layout.row_major or (layout.strides[-1] == 1 and min(layout.strides) >= 0):
        return data
    return TensorData.of(np.ascontiguousarray(data.array), layout.contiguous)


def like(data: TensorData, shape: Shape) -> TensorData:
    """Allocate a view with the dimension order of another; the last dimension is contiguous."""
    layout = data.layout
    storage = empty(math.prod(shape), layout.dtype.numpy)
    strides, step = [1] * len(shape), shape[-1]
    for d in sorted(range(len(shape) - 1), key=lambda d: (layout.strides[d], -d)):
        strides[d] = step
        step *= shape[d]
    return TensorData(storage, shape, tuple(strides), dtype=layout.dtype)


def pieces_of(array: Array, dim: int) -> Array:
    """Return a contiguous array as (outer, size, inner), with `dim` in the middle."""
    shape = array.shape
    pieces: Array = array.reshape(math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :]))
    return pieces


def is_compiled(first: Tensor, *others: Tensor | None) -> bool:
    """Return whether kernels take these tensors: not empty, of one dtype, float32 or float64.

    The first is a tensor; others may be None.
    """
    layout = first._tensor.layout
    dtype = layout.dtype
    if (dtype is not float32 and dtype is not float64) or not layout.size:
        return False
    for other in others:
        if other is not None:
            layout = other._tensor.layout
            if layout.dtype is not dtype or not layout.size:
                return False
    return True


def shared(elements: int, tensor: Tensor) -> bool:
    """Return whether the backend of a tensor uses all threads for this number of elements."""
    return elements >= int(getattr(tensor.backend, "parallel_from", 0))
