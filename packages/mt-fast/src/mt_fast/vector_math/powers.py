"""Powers, and lengths.

x to the power y is `2**(y log2(x))`. The product may be as large as 1075: its last digits decide
about the first ones of the power, and a float64 has too few of them. So the logarithm and the
product are sums of two floats, of which the second holds what the rounding of the first has lost.
"""

from __future__ import annotations

import math
from decimal import Decimal

from mt_fast.vector_math import logarithms
from mt_fast.vector_math.exponentials import LOG2_E, exp2, exp2_of_sum
from mt_fast.vector_math.logarithms import split, with_ends
from mt_fast.vector_math.values import (
    FLOAT64,
    Value,
    copysign,
    fma,
    in_float64,
    nearest,
    polynomial,
    sqrt,
    where,
)

LOG = (
    0.1319621278872517,
    0.1325683161181136,
    0.15386756669072732,
    0.18181784383143237,
    0.22222222519718168,
    0.28571428570100865,
    0.4000000000000225,
)
"""Of `(log((1 + s) / (1 - s)) - 2 s - 2 s**3 / 3) / s**5`, in powers of s s."""

TWO_THIRDS = FLOAT64.in_parts(Decimal(2) / 3)
LOG2_E_PARTS = FLOAT64.in_parts(LOG2_E)

MOST = 2000.0
"""No float has 2 to this power, or to minus this."""

Pair = tuple[Value, Value]
"""A number as the sum of two, the second being about a rounding error of the first."""


def _sum(x: Value, y: Value, rest: Value | float) -> Pair:
    """Return `x + y + rest`, for a y that is smaller than x, or an x that is 0."""
    total = x + y
    return total, ((x - total) + y) + rest


def _product(x: Value, y: Value | float, rest: Value) -> Pair:
    """Return `x * y + rest`."""
    product = x * y
    return product, fma(x, y, -product) + rest


def _log2(x: Value) -> Pair:
    """Return the logarithm to the base 2 of a number that is not negative.

    As in `logarithms`: the first two terms of the series in s, and the rest by a polynomial.
    """
    e, f = split(x)
    divisor = f + 2.0
    s = f / divisor
    s_low = fma(-s, f - (divisor - 2.0), fma(-s, divisor, f)) / divisor
    square, square_low = _product(s, s, 2.0 * s * s_low)
    cube, cube_low = _product(square, s, fma(square_low, s, square * s_low))
    high, low = TWO_THIRDS
    factor, factor_low = _sum(square.like(high), square * polynomial(square, LOG), low)
    more, more_low = _product(cube, factor, fma(cube, factor_low, cube_low * factor))
    log, log_low = _sum(2.0 * s, more, fma(s_low, 2.0, more_low))
    high, low = LOG2_E_PARTS
    log2, log2_low = _product(log, high, fma(log, low, log_low * high))
    result, result_low = _sum(e, log2, log2_low)
    return with_ends(x, result), result_low


def pow(x: Value, y: Value) -> Value:
    """Return x to the power y: nan for a negative x unless y is whole."""
    log, log_low = _log2(abs(x))
    product, product_low = _product(y, log, y * log_low)
    product_low = where(abs(product) < MOST, product_low, 0.0)  # it may be nan elsewhere
    return _with_sign(x, y, exp2_of_sum(product, product_low))


@in_float64
def pow_of_float32(x: Value, y: Value) -> Value:
    """Return the same of float32, for which one float64 has digits enough."""
    e, f = split(abs(x))
    s = f / (f + 2.0)
    square = s * s
    log = s * fma(square, polynomial(square, logarithms.LOG[x.precision]), 2.0)
    return _with_sign(x, y, exp2(y * with_ends(abs(x), fma(log, float(LOG2_E), e))))


def _with_sign(x: Value, y: Value, result: Value) -> Value:
    """Return x to the power y, given that of |x|: nan where the product was one of 0."""
    half = 0.5 * y
    whole = nearest(y).equals(y)
    odd = whole & ~nearest(half).equals(half)
    result = where(odd, copysign(result, x), result)
    inside = (x < 0.0) & (x > -math.inf)
    result = where(inside & ~whole, x.like(math.nan), result)
    one = y.equals(0.0) | x.equals(1.0) | (x.equals(-1.0) & abs(y).equals(math.inf))
    return where(one, x.like(1.0), result)


@in_float64
def hypot(x: Value, y: Value) -> Value:
    """Return the length of the vector (x, y): infinite if either is, also beside nan."""
    infinite = abs(x).equals(math.inf) | abs(y).equals(math.inf)
    return where(infinite, x.like(math.inf), sqrt(fma(x, x, y * y)))
