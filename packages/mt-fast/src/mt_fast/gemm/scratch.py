"""Scratch memory for kernels that begins where vectors are read fastest.

Tiles are fast if what they read lies in the cache: kernels of products copy it there, to this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.vectors.compiler import allocating
from mt_fast.vectors.processor import VECTOR_BYTES


@allocating
def scratch(size: Any, like: Any) -> Any:
    """Return memory for `size` elements like those of an array, from a multiple of a vector on.

    A vector that lies across the border between two lines of the cache takes twice as long to read.
    """
    memory = np.empty(size + VECTOR_BYTES // like.itemsize, like.dtype)
    first = -memory.ctypes.data % VECTOR_BYTES // like.itemsize
    return memory[first : first + size]
