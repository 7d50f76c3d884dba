"""bfloat16, which NumPy lacks: the upper half of a float32, rounded.

It has the range of float32 and eight binary digits. Its arrays hold two bytes without meaning, so
that NumPy refuses to compute with them instead of taking the bits for numbers.
"""

from __future__ import annotations

import numpy as np

from mt_tensor.core.casting import EMULATED, Emulation
from mt_tensor.core.dtypes import Array, bfloat16

NAN = 0x7FC0
"""The bits of nan. There are others, which rounding makes to these."""


def to_float32(array: Array) -> Array:
    """Return an array of bfloat16 as float32."""
    return (array.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def from_array(array: Array) -> Array:
    """Return an array of another dtype as bfloat16: the nearest, of two the one with last bit 0."""
    wide = array.astype(np.float32)
    bits = wide.view(np.uint32)
    if array.dtype not in (np.float32, np.float16, np.bool_):
        # It has been rounded to float32 already. Towards zero instead, and with the last bit set if
        # anything was lost, it is on the right side of the middle between two of bfloat16.
        exact = array.astype(np.float64)
        bits = bits - (np.abs(wide) > np.abs(exact)) | (wide != exact)
    halfway = np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    upper = (bits + halfway >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(wide), np.uint16(NAN), upper).view(bfloat16.numpy)


EMULATED[bfloat16] = Emulation(to_float32, from_array)
