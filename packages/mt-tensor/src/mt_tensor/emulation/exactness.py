"""Check which numbers 16-bit floats store without rounding."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

from mt_tensor.core.dtypes import DType, Number, bfloat16, float16
from mt_tensor.core.extensions import extends


class Limits(NamedTuple):
    """The significant bits of a dtype, its smallest normal exponent, and its largest number."""

    digits: int
    exponent: int
    largest: float


NARROW = {float16: Limits(11, -13, 65504.0), bfloat16: Limits(8, -125, (2.0 - 2.0**-7) * 2.0**127)}
"""The 16-bit dtypes."""


@extends("is exact")
@functools.lru_cache(1024)
def is_exact(value: Number, dtype: DType) -> bool:
    """Return whether a 16-bit dtype stores a number, which may be nan or infinite, exactly."""
    if not abs(value) < math.inf:
        return True
    digits, least, largest = NARROW[dtype]
    if abs(value) > largest:
        return False
    steps = math.ldexp(value, digits - max(math.frexp(value)[1], least))
    return steps == int(steps)
