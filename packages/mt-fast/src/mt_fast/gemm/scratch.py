"""Aligned scratch memory for kernels.

Tiles are fast if they read from the cache: kernels of products copy their factors to this memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.vectors.compiler import allocating
from mt_fast.vectors.processor import VECTOR_BYTES


@allocating
def scratch(size: Any, like: Any) -> Any:
    """Return memory for `size` elements of the dtype of an array, aligned to vectors.

    A vector that straddles two cache lines takes twice as long to read.
    """
    memory = np.empty(size + VECTOR_BYTES // like.itemsize, like.dtype)
    first = -memory.ctypes.data % VECTOR_BYTES // like.itemsize
    return memory[first : first + size]
