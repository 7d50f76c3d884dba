"""Check which numbers 16-bit floats store without rounding."""

from __future__ import annotations

import functools
import math

import numpy as np

from mt_tensor.core.casting import cast_array, to_float32
from mt_tensor.core.dtypes import DType, Number, bfloat16, float16
from mt_tensor.core.extensions import extends

LARGEST = {float16: 65504.0, bfloat16: (2.0 - 2.0**-7) * 2.0**127}
"""The largest finite numbers of the 16-bit dtypes."""


@extends("is exact")
@functools.lru_cache(1024)
def is_exact(value: Number, dtype: DType) -> bool:
    """Return whether a 16-bit dtype stores a number, which may be nan or infinite, exactly."""
    if not abs(value) < math.inf:
        return True
    if abs(value) > LARGEST[dtype]:
        return False
    stored: float = to_float32(cast_array(np.array(float(value)), dtype)).item()
    return stored == value
