"""Logarithms.

With `x = 2**e * (1 + f)` and 1 + f between sqrt(1/2) and sqrt(2), the logarithm of x is `e * log(2)
+ log(1 + f)`. The latter is computed as f plus a correction, which is small, and so are its errors.
In float32 the correction is `f * f` times a polynomial. In float64 a division halves the number of
powers: `log(1 + f)` is `log((1 + s) / (1 - s))` with `s = f / (2 + f)`, whose series has odd powers
only, and the correction is `s * (h + R) - h` with `h = f * f / 2` and a polynomial R in `s * s`
(after fdlibm's e_log.c).
"""

from __future__ import annotations

import math
from decimal import Decimal

from mt_fast.vector_math.exponentials import LN_2, LOG2_E
from mt_fast.vector_math.values import (
    FLOAT32,
    FLOAT64,
    Value,
    exponent_and_fraction,
    fma,
    polynomial,
    where,
)

SCALE = 64
"""The power of 2 that turns subnormal numbers into normal ones."""

LOG = {
    FLOAT32: (0.24279426, 0.28498784, 0.40000972, 0.6666666),
    FLOAT64: (
        0.14795785622104665,
        0.1531407127470756,
        0.1818356330572258,
        0.22222198598055734,
        0.28571428742075844,
        0.39999999999416536,
        0.6666666666666734,
    ),
}
"""Coefficients of `(log((1 + s) / (1 - s)) - 2 * s) / s**3` in powers of `s * s`."""

LOG_BY_POWERS = (
    -0.076231039,
    0.12905557,
    -0.1324299,
    0.14181626,
    -0.16609054,
    0.20001985,
    -0.25001585,
    0.33333325,
    -0.49999988,
)
"""Coefficients of `(log(1 + f) - f) / f**2`, for float32."""

LOG10_E = Decimal("0.434294481903251827651128918916605082")
LOG10_2 = Decimal("0.301029995663981195213738894724493026")

LOG10_E_PARTS = {kind: kind.in_parts(LOG10_E) for kind in (FLOAT32, FLOAT64)}
LOG10_2_PARTS = {kind: kind.in_parts(LOG10_2) for kind in (FLOAT32, FLOAT64)}


def split(x: Value) -> tuple[Value, Value]:
    """Return e and f with `x = 2**e * (1 + f)`, for positive x."""
    if x.is_wider:  # no float32 is subnormal in float64
        e, fraction = exponent_and_fraction(x)
        return e, fraction - 1.0
    subnormal = x < 2.0 ** (1 - x.format.bias)
    e, fraction = exponent_and_fraction(where(subnormal, x * 2.0**SCALE, x))
    return where(subnormal, e - float(SCALE), e), fraction - 1.0


def _correction(f: Value, more: Value | float = 0.0) -> Value:
    """Return `log(1 + f) - f + more`."""
    if f.format is FLOAT32:
        return fma(f * f, polynomial(f, LOG_BY_POWERS), more)
    s = f / (f + 2.0)
    square, h = s * s, 0.5 * f * f
    return fma(s, fma(square, polynomial(square, LOG[f.precision]), h), -h) + more


def with_ends(x: Value, result: Value) -> Value:
    """Extend a logarithm that is valid for positive, finite x to 0, negative x, inf and nan."""
    result = where(x < math.inf, result, x)  # also if x is nan
    result = where(x.equals(0.0), x.like(-math.inf), result)
    return where(x < 0.0, x.like(math.nan), result)


def log(x: Value) -> Value:
    """Return the natural logarithm."""
    e, f = split(x)
    return with_ends(x, fma(e, float(LN_2), _correction(f, f)))


def log2(x: Value) -> Value:
    """Return the logarithm to the base 2."""
    e, f = split(x)
    g = _correction(f)
    more = float(LOG2_E) - 1.0
    return with_ends(x, e + (f + (g + fma(f, more, g * more))))


def log10(x: Value) -> Value:
    """Return the logarithm to the base 10."""
    e, f = split(x)
    g = _correction(f)
    (high, low), (of_2, of_2_low) = LOG10_E_PARTS[x.format], LOG10_2_PARTS[x.format]
    rest = fma(e, of_2_low, fma(g, high, (f + g) * low))
    return with_ends(x, fma(e, of_2, fma(f, high, rest)))


def log1p(x: Value) -> Value:
    """Return `log(1 + x)`, accurate for small x: with the rounding error of the sum added."""
    total = 1.0 + x
    lost = x - (total - 1.0)
    e, f = split(total)
    result = with_ends(total, fma(e, float(LN_2), f + _correction(f, lost / total)))
    return where(abs(x) > 0.0, result, x)
