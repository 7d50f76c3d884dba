"""bfloat16, which NumPy lacks: the upper half of a float32, rounded.

It has the range of float32 and eight significant bits. Its arrays have a dtype of two opaque bytes,
with which NumPy refuses to compute.
"""

from __future__ import annotations

import numpy as np

from mt_tensor.core.casting import EMULATED, Emulation
from mt_tensor.core.dtypes import Array, bfloat16

NAN = 0x7FC0
"""The bits of nan; rounding maps all nans to them."""


def to_float32(array: Array) -> Array:
    """Convert an array of bfloat16 to float32."""
    return (array.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def from_array(array: Array) -> Array:
    """Convert an array of another dtype to bfloat16, rounding half to even."""
    wide = array.astype(np.float32)
    bits = wide.view(np.uint32)
    if array.dtype not in (np.float32, np.float16, np.bool_):
        # `wide` has been rounded already. Round towards zero instead, and set the last bit if
        # inexact, so that the second rounding is correct.
        exact = array.astype(np.float64)
        bits = bits - (np.abs(wide) > np.abs(exact)) | (wide != exact)
    halfway = np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    upper = (bits + halfway >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(wide), np.uint16(NAN), upper).view(bfloat16.numpy)


EMULATED[bfloat16] = Emulation(to_float32, from_array)
