"""Sines, cosines and tangents, and the angles that belong to them."""

from __future__ import annotations

import math

from llvmlite import ir

from mt_fast.vector_math.angles import reduced
from mt_fast.vector_math.values import (
    FLOAT32,
    FLOAT64,
    Truth,
    Value,
    copysign,
    fma,
    in_float64,
    polynomial,
    sqrt,
    where,
    whole_bits,
)

SMALL = 2.0**-27
"""The sine of an angle up to this is the angle, to all digits."""

SINE = {
    FLOAT32: (-0.0001951463409280025, 0.008332156078108964, -0.16666654537169806),
    FLOAT64: (
        1.5895426310236832e-10,
        -2.505073429075128e-08,
        2.7557313537945917e-06,
        -0.00019841269829356896,
        0.008333333333321839,
        -0.1666666666666663,
    ),
}
"""Of `(sin(r) - r) / r**3`, in powers of r r."""

COSINE = {
    FLOAT32: (2.443236121594519e-05, -0.0013887309337984317, 0.04166664554135264),
    FLOAT64: (
        -1.1358606710927623e-11,
        2.0875702963729873e-09,
        -2.755731420204304e-07,
        2.4801587288962692e-05,
        -0.0013888888888873305,
        0.041666666666666595,
    ),
}
"""Of `(cos(r) - 1 + r r / 2) / r**4`, in powers of r r."""


def _sine(r: Value, rest: Value | None) -> Value:
    """Return the sine of an angle `r + rest` of up to an eighth of a turn."""
    square = r * r
    more = polynomial(square, SINE[r.precision]) * square * r
    if rest is not None:
        more = fma(rest, fma(square, -0.5, 1.0), more)
    return r + more


def _cosine(r: Value, rest: Value | None) -> Value:
    """Return the cosine of such an angle."""
    square = r * r
    half = 0.5 * square
    near = 1.0 - half
    more = polynomial(square, COSINE[r.precision]) * square * square
    if rest is not None:
        more = fma(-r, rest, more) + ((1.0 - near) - half)
    return near + more


def _of_quarters(n: Value, r: Value, rest: Value | None) -> Value:
    """Return the sine of `n pi / 2 + r + rest`."""
    builder, quarters = n.builder, whole_bits(n)
    odd = Truth(builder, builder.trunc(quarters, ir.IntType(1)))
    size = where(odd, _cosine(r, rest), _sine(r, rest))
    second_half = builder.and_(quarters, n.integer(2))  # of a turn, where sines are negative
    sign = builder.shl(second_half, n.integer(n.format.bits.width - 2))
    return n.of_pattern(builder.xor(size.pattern(), sign))


def _if_finite(x: Value, result: Value) -> Value:
    return where(abs(x) < math.inf, result, x - x)


def sin(x: Value) -> Value:
    """Return the sine of an angle in radians: nan at the infinities."""
    return where(abs(x) < SMALL, x, _if_finite(x, _of_quarters(*reduced(x))))


def cos(x: Value) -> Value:
    """Return the cosine of an angle in radians: nan at the infinities."""
    n, r, rest = reduced(x)
    return _if_finite(x, _of_quarters(n + 1.0, r, rest))


@in_float64
def tan(x: Value) -> Value:
    """Return the tangent of an angle in radians: nan at the infinities."""
    n, r, rest = reduced(x)
    result = _of_quarters(n, r, rest) / _of_quarters(n + 1.0, r, rest)
    return where(abs(x) < SMALL, x, result)


# --- Their inverses -----------------------------------------------------------------------------

ATAN = (
    -0.0017936107129659308,
    0.0109145308527178,
    -0.031177651465992093,
    0.057957335912692184,
    -0.08403431241026951,
    0.10952177831325287,
    -0.14264239948731136,
    0.1999854812395601,
    -0.3333329908646696,
)
"""Of `(atan(t) - t) / t**3`, in powers of t t, for float32."""


def _angle(y: Value, x: Value) -> Value:
    """Return the angle of the point (|x|, |y|): 0 at (0, 0), a half of pi / 2 if both are inf."""
    steep = abs(y) > abs(x)
    short, long = where(steep, abs(x), abs(y)), where(steep, abs(y), abs(x))
    t = where(short.equals(long), where(long > 0.0, x.like(1.0), 0.0), short / long)
    square = t * t
    angle = fma(polynomial(square, ATAN) * square, t, t)
    return where(steep, 0.5 * math.pi - angle, angle)


@in_float64
def atan(x: Value) -> Value:
    """Return the angle from -pi/2 to pi/2 whose tangent is x."""
    return copysign(_angle(x, x.like(1.0)), x)


@in_float64
def asin(x: Value) -> Value:
    """Return the angle from -pi/2 to pi/2 whose sine is x: nan beyond -1 and 1."""
    return copysign(_angle(x, sqrt((1.0 - x) * (1.0 + x))), x)


@in_float64
def acos(x: Value) -> Value:
    """Return the angle from 0 to pi whose cosine is x: nan beyond -1 and 1."""
    angle = _angle(sqrt((1.0 - x) * (1.0 + x)), x)
    return where(x < 0.0, math.pi - angle, angle)


@in_float64
def atan2(y: Value, x: Value) -> Value:
    """Return the angle from -pi to pi of the point (x, y); zeros keep their sign."""
    angle = _angle(y, x)
    left = copysign(x.like(1.0), x) < 0.0
    return copysign(where(left, math.pi - angle, angle), y)
