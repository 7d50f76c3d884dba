"""Tensors that share the memory of NumPy arrays."""

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
    """Return a tensor with the elements of an array, sharing its memory if possible.

    Memory is shared on backends with NumPy arrays, for arrays that are writeable and in native byte
    order, if their strides are multiples of the item size. Otherwise the elements are copied.

    Args:
        array: an array of any shape and strides.
        backend: a backend or its name; by default the current one.

    Raises:
        TypeError: `array` is not a NumPy array.
        DTypeError: tensors, or those of the backend, do not have the dtype of the array.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(
            "from_numpy() takes a NumPy array; an object of type "
            f"{type(array).__name__} was given. Use tensor()."
        )
    return over_array(array, get_backend(backend))


def over_array(array: Array, backend: TensorBackend, dtype: DType | None = None) -> Tensor:
    """Return a tensor that shares the memory of an array if possible, else a copy.

    Args:
        array: an array of any strides and byte order.
        backend: the backend of the tensor.
        dtype: the dtype of the elements, if NumPy lacks it.
    """
    dtype = dtype or as_dtype(array.dtype)
    if isinstance(backend, HostBackend) and _can_be_shared(array):
        backend.empty((0,), dtype)  # raises if the backend does not support the dtype
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
    """Return a view over the memory from the first to the last element of an array."""
    if array.flags.c_contiguous:
        return TensorData.of(array.view(np.ndarray), row_major(array.shape, dtype))
    strides = tuple(stride // array.itemsize for stride in array.strides)
    spans = [(size - 1) * s for size, s in zip(array.shape, strides, strict=True)]
    forwards: Any = (slice(None, None, -1 if span < 0 else 1) for span in spans)
    lowest = array[(..., *forwards)]  # with the Ellipsis, an array even if it is 0-D
    row = np.lib.stride_tricks.as_strided(
        lowest, (1 + sum(map(abs, spans)),), (array.itemsize,), writeable=True
    )
    offset = -sum(span for span in spans if span < 0)
    return TensorData(row, array.shape, strides, offset, dtype=dtype)
