"""Memory for large tensors, from the start of a cache line on.

There are kernels now; the rest of the lesson runs them over tensors, which need memory. NumPy's
memory begins anywhere, so that a vector of 64 bytes lies in two lines, and reading or writing it
takes two accesses. In a transposition of what is larger than the caches this is a third of the
time, in other loops up to a twentieth.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LINE = 64
"""Bytes of a cache line, and of the longest vectors."""

LARGE = 2**19
"""Bytes from which it pays: to look where memory begins takes a microsecond."""


_BYTES = np.dtype(np.uint8)


def empty(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """Return a new contiguous array with arbitrary content.

    Raises:
        ValueError: there are more elements than can be addressed.
    """
    kind = np.dtype(dtype)
    size = shape if isinstance(shape, int) else math.prod(shape)
    if size * kind.itemsize < LARGE:
        return np.empty(shape, kind)
    memory: Any = np.empty(size * kind.itemsize + LINE, _BYTES)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))  # in a third of NumPy's time
    return np.ndarray(shape, kind, memory, -address % LINE)


def empty_like(array: Array) -> Array:
    """Return a new contiguous array of the shape and type of another."""
    return empty(array.shape, array.dtype)


def aligned(array: Array) -> Array:
    """Return a contiguous array, or a copy of it if it is large and begins within a line."""
    if array.nbytes < LARGE or array.ctypes.data % LINE == 0:
        return array
    copied = empty_like(array)
    np.copyto(copied, array)
    return copied
