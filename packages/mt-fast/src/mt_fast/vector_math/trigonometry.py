"""Sines and cosines of float32, computed in float64; float64 uses the C library's.

An angle in radians is `n * pi / 2 + r`; its sine and cosine are those of r, exchanged or negated
depending on the quarter n. To find r exactly for an angle of a billion turns, the angle is
multiplied by 1 / (2 * pi) in pieces, whose products are exact and whose whole turns are dropped
before they are added.
"""

from __future__ import annotations

import functools
import math
import operator

from llvmlite import ir

from mt_fast.vector_math.values import (
    Condition,
    Value,
    fma,
    in_float64,
    integer_bits,
    nearest,
    polynomial,
    where,
)

# --- Turns ----------------------------------------------------------------------------------------

DIGITS = "28BE60DB9391054A7F09D5F47D4D377036D8A5664F10E4107F9458EAF7AEF1586DC91B8E909374B8"
"""The first hexadecimal digits of 1 / (2 * pi)."""

PIECE, PIECES = 29, 5
"""The bits of a piece, so that its product with a float32 is exact in float64, and the number of
pieces. With these and a last one of the length of a float64, the remainder is exact even for the
float32 that is nearest to a whole turn."""


def _pieces() -> list[float]:
    """Return 1 / (2 * pi) as a sum of numbers of few bits, and a last one."""
    bits, count = int(DIGITS, 16), 4 * len(DIGITS)
    ends = [PIECE * i for i in range(1, PIECES + 1)]
    pieces = [(bits >> (count - end)) % (1 << PIECE) * 2.0**-end for end in ends]
    return [*pieces, (bits % (1 << (count - ends[-1]))) / (1 << count)]


def _reduced(x: Value) -> tuple[Value, Value]:
    """Return n and r with `x = n * pi / 2 + r` up to whole turns, and r up to an eighth turn.

    Args:
        x: a float32, converted to float64.
    """
    *products, last = [x * piece for piece in _pieces()]
    turns = [*(product - nearest(product) for product in products), last]
    n = nearest(functools.reduce(operator.add, turns) * 4.0)
    rest = functools.reduce(operator.add, turns[1:], fma(n, -0.25, turns[0]))
    return n, rest * math.tau


# --- The functions ------------------------------------------------------------------------------

SMALL = 2.0**-27
"""The angle up to which the sine is the angle itself, to all digits."""

SINE = (-0.0001951463409280025, 0.008332156078108964, -0.16666654537169806)
"""Coefficients of `(sin(r) - r) / r**3` in powers of `r * r`."""

COSINE = (2.443236121594519e-05, -0.0013887309337984317, 0.04166664554135264)
"""Coefficients of `(cos(r) - 1 + r * r / 2) / r**4` in powers of `r * r`."""


def _sine(r: Value) -> Value:
    """Return the sine of an angle in [-pi/4, pi/4]."""
    square = r * r
    return r + polynomial(square, SINE) * square * r


def _cosine(r: Value) -> Value:
    """Return the cosine of an angle in [-pi/4, pi/4]."""
    square = r * r
    return (1.0 - 0.5 * square) + polynomial(square, COSINE) * square * square


def _of_quarters(n: Value, r: Value) -> Value:
    """Return the sine of `n * pi / 2 + r`."""
    builder, quarters = n.builder, integer_bits(n)
    odd = Condition(builder, builder.trunc(quarters, ir.IntType(1)))
    size = where(odd, _cosine(r), _sine(r))
    second_half = builder.and_(quarters, n.integer(2))  # of a turn: sines are negative
    sign = builder.shl(second_half, n.integer(n.format.bits.width - 2))
    return n.of_pattern(builder.xor(size.pattern(), sign))


def _if_finite(x: Value, result: Value) -> Value:
    return where(abs(x) < math.inf, result, x - x)


@in_float64
def sin(x: Value) -> Value:
    """Return the sine of an angle in radians: nan at the infinities."""
    return where(abs(x) < SMALL, x, _if_finite(x, _of_quarters(*_reduced(x))))


@in_float64
def cos(x: Value) -> Value:
    """Return the cosine of an angle in radians: nan at the infinities."""
    n, r = _reduced(x)
    return _if_finite(x, _of_quarters(n + 1.0, r))
