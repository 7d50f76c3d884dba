"""Which numbers the dtypes of 16 bits store without rounding."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

from mt_tensor.core.dtypes import DType, Number, bfloat16, float16
from mt_tensor.core.extensions import extends


class Limits(NamedTuple):
    """Binary digits of a dtype, the least exponent with all of them, and the largest number."""

    digits: int
    exponent: int
    largest: float


NARROW = {float16: Limits(11, -13, 65504.0), bfloat16: Limits(8, -125, (2.0 - 2.0**-7) * 2.0**127)}
"""The dtypes of 16 bits."""


@extends("is exact")
@functools.lru_cache(1024)
def is_exact(value: Number, dtype: DType) -> bool:
    """Whether a dtype of 16 bits stores a number without rounding, as it does nan and infinity."""
    if not abs(value) < math.inf:
        return True
    digits, least, largest = NARROW[dtype]
    if abs(value) > largest:
        return False
    steps = math.ldexp(value, digits - max(math.frexp(value)[1], least))
    return steps == int(steps)
