"""From tensors to the arrays that the kernels of the `numpy` backend compute with, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor import Tensor, TensorData, float32, float64
from mt_tensor.backends.extending import row_major
from mt_tensor.extending import Array, as_dtype

Needs = Sequence[bool]
"""Of which arguments gradients are wanted."""

Saved = tuple[Any, ...]
"""What a kernel keeps for its gradient."""


def array_of(tensor: Any) -> Array:
    """Return the elements as an array over the tensor's own memory."""
    array: Array = tensor._tensor.array
    return array


def tensor_of(array: Array, like: Any) -> Any:
    """Return a new contiguous array as a tensor on the backend of another."""
    dtype = like._tensor.layout.dtype
    if array.dtype is not dtype.numpy:
        dtype = as_dtype(array.dtype)
    return Tensor._make(TensorData.of(array, row_major(array.shape, dtype)), like.backend)


def are_computed(*tensors: Any) -> bool:
    """Whether there are elements, all of float32 or all of float64; what is None does not count.

    Of float16, sums would be rounded at each step.
    """
    dtype = None
    for tensor in tensors:
        if tensor is not None:
            layout = tensor._tensor.layout
            dtype = dtype or layout.dtype
            if layout.dtype is not dtype or not layout.size:
                return False
    return dtype in (float32, float64)
