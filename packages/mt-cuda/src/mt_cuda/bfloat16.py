"""bfloat16, which neither Numba nor NumPy has: kernels read and write its bits, a uint16."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_cuda.core.compiler import FUNCTIONS
from mt_cuda.core.simulator import NAMES
from mt_tensor import bfloat16
from mt_tensor.backends.extending import cast_array, to_float32

FUNCTIONS["bfloat16"] = """\
def float_of_bfloat16(bits):
    return libdevice.int_as_float(int32(uint32(bits) << uint32(16)))

def bfloat16(x):
    wide = float32(x)
    bits = uint32(libdevice.float_as_int(wide))
    if wide != x:  # rounded already, or nan: towards zero instead, and with the last bit set
        bits = uint32(bits - uint32(abs(wide) > abs(x))) | uint32(1)
    rounded = uint32(bits + uint32(0x7FFF) + ((bits >> uint32(16)) & uint32(1)))
    return uint16(rounded >> uint32(16)) if x == x else uint16(0x7FC0)
"""
"""What Numba compiles. Its own type would call functions of CUDA's headers."""


def _bits(x: Any) -> Any:
    """Return the bits of a number as bfloat16, in the simulator."""
    return cast_array(np.asarray(x), bfloat16).view(np.uint16)[()]


NAMES["bfloat16"] = _bits
NAMES["float_of_bfloat16"] = lambda bits: to_float32(bits.view(bfloat16.numpy))
