"""Powers of float32, computed in float64; float64 uses the C library's.

x to the power y is `2**(y * log2(x))`. The product may be as large as 150, and its last digits
determine the first digits of the power: float64 has enough digits for a float32 result.
"""

from __future__ import annotations

import math

from mt_fast.vector_math.exponentials import LOG2_E, exp2
from mt_fast.vector_math.logarithms import LOG, split, with_ends
from mt_fast.vector_math.values import Value, copysign, fma, in_float64, nearest, polynomial, where


@in_float64
def pow(x: Value, y: Value) -> Value:
    """Return x to the power y: nan for a negative x unless y is an integer."""
    e, f = split(abs(x))
    s = f / (f + 2.0)
    square = s * s
    log = s * fma(square, polynomial(square, LOG[x.precision]), 2.0)
    return _with_sign(x, y, exp2(y * with_ends(abs(x), fma(log, float(LOG2_E), e))))


def _with_sign(x: Value, y: Value, result: Value) -> Value:
    """Return x to the power y, given `abs(x)` to the power y: nan in place of invalid results."""
    half = 0.5 * y
    is_integer = nearest(y).equals(y)
    is_odd = is_integer & ~nearest(half).equals(half)
    result = where(is_odd, copysign(result, x), result)
    inside = (x < 0.0) & (x > -math.inf)
    result = where(inside & ~is_integer, x.like(math.nan), result)
    one = y.equals(0.0) | x.equals(1.0) | (x.equals(-1.0) & abs(y).equals(math.inf))
    return where(one, x.like(1.0), result)
