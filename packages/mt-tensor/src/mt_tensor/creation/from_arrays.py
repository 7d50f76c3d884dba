"""Tensors over memory that exists already: that of NumPy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.creation import from_values
from mt_tensor.core.dtypes import Array, DType, as_dtype
from mt_tensor.core.host import HostBackend
from mt_tensor.core.layout import row_major
from mt_tensor.core.registry import Backend, get_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData


def from_numpy(array: Array, backend: Backend = None) -> Tensor:
    """Return a tensor with the elements of an array, sharing its memory where that is possible.

    It is possible on a backend that holds NumPy arrays, for an array that can be written to, in
    this machine's byte order, whatever its strides. Else the elements are copied.

    Raises:
        TypeError: `array` is no NumPy array.
        DTypeError: the array's element type has no counterpart.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"from_numpy() takes a NumPy array; a {type(array).__name__} was given. Use tensor()."
        )
    return over_array(array, get_backend(backend))


def over_array(array: Array, backend: TensorBackend, dtype: DType | None = None) -> Tensor:
    """Return a tensor over the memory of an array if that can be, else over a copy.

    Args:
        array: any strides and byte order.
        backend: where the tensor is to be.
        dtype: what the elements are, where NumPy has no such type.
    """
    dtype = dtype or as_dtype(array.dtype)
    if isinstance(backend, HostBackend) and _can_be_shared(array):
        backend.empty((0,), dtype)  # raises where there are no such elements
        return Tensor._make(_sharing(array, dtype), backend)
    return from_values(array, dtype, backend)


def _can_be_shared(array: Array) -> bool:
    flags = array.flags
    return (
        array.size > 0
        and flags.behaved
        and array.dtype.isnative
        and (flags.c_contiguous or all(stride % array.itemsize == 0 for stride in array.strides))
    )


def _sharing(array: Array, dtype: DType) -> TensorData:
    """Return a view over the row of memory from an array's lowest element to its highest."""
    if array.flags.c_contiguous:
        return TensorData.of(array.view(np.ndarray), row_major(array.shape, dtype))
    strides = tuple(stride // array.itemsize for stride in array.strides)
    steps = [(length - 1) * s for length, s in zip(array.shape, strides, strict=True)]
    forwards: Any = (slice(None, None, -1 if step < 0 else 1) for step in steps)
    lowest = array[(..., *forwards)]  # with the dots it is an array, not a number, for 0-d, too
    row = np.lib.stride_tricks.as_strided(
        lowest, (1 + sum(map(abs, steps)),), (array.itemsize,), writeable=True
    )
    offset = -sum(step for step in steps if step < 0)
    return TensorData(row, array.shape, strides, offset, dtype=dtype)
