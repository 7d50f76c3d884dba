"""Conversion of tensors to arrays and back, for the kernels of the `numpy` backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor import Tensor, TensorData, float32, float64
from mt_tensor.backends.extending import row_major
from mt_tensor.extending import Array, as_dtype

Needs = Sequence[bool]
"""Whether each argument needs a gradient."""

Saved = tuple[Any, ...]
"""The values that a kernel saves for its gradient."""


def array_of(tensor: Any) -> Array:
    """Return the elements as an array that shares the memory of the tensor."""
    array: Array = tensor._tensor.array
    return array


def tensor_of(array: Array, like: Any) -> Any:
    """Return a new contiguous array as a tensor on the backend of `like`."""
    dtype = like._tensor.layout.dtype
    if array.dtype is not dtype.numpy:
        dtype = as_dtype(array.dtype)
    return Tensor._make(TensorData.of(array, row_major(array.shape, dtype)), like.backend)


def are_supported(*tensors: Any) -> bool:
    """Return whether all tensors are non-empty, and all float32 or all float64; skip None.

    float16 is excluded, since sums would be rounded after each addition.
    """
    dtype = None
    for tensor in tensors:
        if tensor is not None:
            layout = tensor._tensor.layout
            dtype = dtype or layout.dtype
            if layout.dtype is not dtype or not layout.size:
                return False
    return dtype in (float32, float64)
