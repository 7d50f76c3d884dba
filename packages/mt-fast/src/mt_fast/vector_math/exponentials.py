"""Exponentials, the hyperbolic tangent and the sigmoid.

An exponential is `exp(r) * 2**n`, with `abs(r)` at most half of log(2).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from mt_fast.vector_math.values import (
    FLOAT32,
    FLOAT64,
    Value,
    at_least,
    at_most,
    copysign,
    fma,
    integer_bits,
    nearest_and_bits,
    polynomial,
    power_of_two,
    powers_of_two,
    where,
)

RANGE = {FLOAT32: (-104.0, 90.0), FLOAT64: (-746.0, 710.0)}
BINARY_RANGE = {FLOAT32: (-151.0, 129.0), FLOAT64: (-1076.0, 1025.0)}
"""The exponents outside of which results are 0 or infinite."""

LEAST = -40.0
"""The argument below which `exp(x) - 1` is -1."""

MANY = 64.0
"""An exponent so large that adding 1 to this power of 2 has no effect."""

LN_2 = Decimal("0.693147180559945309417232121458176568")
LOG2_E = Decimal("1.442695040888963407359924681001892137")

LN_2_PARTS = {kind: kind.in_parts(LN_2, kind.places - 12) for kind in (FLOAT32, FLOAT64)}
"""log(2) as the sum of two numbers, of which the first has so few digits that its product with any
exponent is exact."""

EXP = {
    FLOAT32: (0.001381464, 0.008368717, 0.04166839, 0.16666521, 0.49999994),
    FLOAT64: (
        2.0875365422380582e-09,
        2.510895851941107e-08,
        2.755740243759043e-07,
        2.7557244437340544e-06,
        2.480158717292723e-05,
        0.00019841269885896795,
        0.001388888888896206,
        0.008333333333321723,
        0.04166666666666651,
        0.16666666666666677,
        0.5,
    ),
}
"""Coefficients of `(exp(r) - 1 - r) / r**2`."""


def scaled(coefficients: Sequence[float], factor: float) -> tuple[float, ...]:
    """Return the coefficients of `p(factor * r)` given those of `p(r)`, highest power first."""
    highest = len(coefficients) - 1
    return tuple(c * factor ** (highest - i) for i, c in enumerate(coefficients))


def _bounded(x: Value, bounds: tuple[float, float]) -> Value:
    return at_most(at_least(x, bounds[0]), bounds[1])


def _reduced(x: Value, offset: int) -> tuple[Value, Any, Value]:
    """Return n, the lowest bits of `n + offset`, and r with `x = n * log(2) + r`."""
    n, bits = nearest_and_bits(x, float(LOG2_E), offset)
    if x.is_wider:
        return n, bits, fma(n, -float(LN_2), x)
    high, low = LN_2_PARTS[x.format]
    return n, bits, fma(n, -low, fma(n, -high, x))


def _grown(r: Value) -> Value:
    """Return `exp(r) - 1`, accurate enough to be added to 1."""
    return fma(polynomial(r, EXP[r.precision]), r * r, r)


def exp_inside(x: Value) -> Value:
    """Return e to the power x; the result must be a normal number."""
    _, bits, r = _reduced(x, x.format.bias)
    power = power_of_two(bits, x)
    return fma(_grown(r), power, power)


def _offset(x: Value) -> int:
    """Return the offset of n with which `_powers` computes 2 to the power n."""
    return x.format.bias * (1 if x.is_wider else 2)


def _powers(bits: Any, like: Value) -> tuple[Value, ...]:
    """Return factors of 2 to the power n: two if it may be too large or too small for one."""
    return (power_of_two(bits, like),) if like.is_wider else powers_of_two(bits, like)


def _scaled_sum(grown: Value, bits: Any) -> Value:
    """Return `(1 + grown) * 2**n`."""
    first, *others = _powers(bits, grown)
    total = fma(grown, first, first)
    for other in others:
        total = total * other
    return total


def exp(x: Value) -> Value:
    """Return e to the power x."""
    _, bits, r = _reduced(_bounded(x, RANGE[x.precision]), _offset(x))
    return _scaled_sum(_grown(r), bits)


SCALE = 64
"""A power of 2 that may be too small for a normal number is computed times 2 to this power. The
coefficients are divided by it in advance, at no cost."""

DECAY = {kind: tuple(c * 2.0**-SCALE for c in (*powers, 1.0, 1.0)) for kind, powers in EXP.items()}
"""Coefficients of `exp(r) / 2**SCALE`."""


def decay(x: Value) -> Value:
    """Return e to the power x for an x of at most about 0, with a single power of 2."""
    _, bits, r = _reduced(at_least(x, RANGE[x.format][0]), x.format.bias + SCALE)
    return polynomial(r, DECAY[x.format]) * power_of_two(bits, x)


def exp2(x: Value) -> Value:
    """Return 2 to the power x: `exp(r * log(2)) * 2**n`."""
    bounded = _bounded(x, BINARY_RANGE[x.precision])
    n, bits = nearest_and_bits(bounded, 1.0, _offset(x))
    return _scaled_sum(_grown((bounded - n) * float(LN_2)), bits)


def expm1(x: Value) -> Value:
    """Return `exp(x) - 1`, accurate for small x: `(exp(r) - 1 + 1 - 2**-n) * 2**n`."""
    n, bits, r = _reduced(_bounded(x, (LEAST, RANGE[x.precision][1])), _offset(x))
    inverse = power_of_two(integer_bits(-at_most(n, MANY), x.format.bias), x)
    result = fma(polynomial(r, EXP[r.precision]), r * r, (1.0 - inverse) + r)
    for power in _powers(bits, x):
        result = result * power
    return copysign(result, x)


# --- Tangent and sigmoid ------------------------------------------------------------------------

NEAR = 0.65
"""The end of the range in which tanh is an odd polynomial."""

FAR = {FLOAT32: 9.1, FLOAT64: 19.1}
"""The start of the range in which tanh is 1."""

TANH = {
    FLOAT32: (-0.0055151547, 0.02046941, -0.053688019, 0.1333083, -0.3333326),
    FLOAT64: (
        -1.5005544970988534e-05,
        7.487708794087642e-05,
        -0.0002264895310389193,
        0.0005852473051025741,
        -0.0014546181464675661,
        0.003591919805669065,
        -0.00886321200135014,
        0.02186948685607418,
        -0.053968253898299755,
        0.13333333333187672,
        -0.33333333333332277,
    ),
}
"""Coefficients of `(tanh(x) - x) / x**3` in powers of `x * x`."""

EXP_OF_TWICE = {kind: scaled((*powers, 1.0, 1.0), 2.0) for kind, powers in EXP.items()}
"""Coefficients of `exp(2 * r)`."""


def tanh(x: Value) -> Value:
    """Return the hyperbolic tangent: an odd polynomial, or `1 - 2 / (exp(2 |x|) + 1)`."""
    size = abs(x)
    square = x * x
    near = fma(polynomial(square, TANH[x.precision]) * square, size, size)
    inside = at_most(size, FAR[x.precision])
    n, bits = nearest_and_bits(inside, 2.0 * float(LOG2_E), x.format.bias)
    r = fma(n, -0.5 * float(LN_2), inside)  # n is small, and so is the rounding error of log(2)
    growing = polynomial(r, EXP_OF_TWICE[x.precision])
    far = 1.0 - 2.0 / fma(growing, power_of_two(bits, x), 1.0)
    return copysign(where(size < NEAR, near, far), x)


INVERSE = (-0.2218370883882149, 1.3310225303292894, -2.9393414211438475, 2.8284228769497402)
"""Coefficients of 1 / t for t from 1 to 2, with a relative error of at most 1 / 577: the remainder
is a Chebyshev polynomial of degree 4."""

STEPS = {FLOAT32: 1, FLOAT64: 2}
"""The number of Newton steps, each of which squares the error, until it is below rounding."""


def sigmoid(x: Value) -> Value:
    """Return `1 / (1 + exp(-x))`, computed from an exponential that is at most 1.

    With `e = exp(-abs(x))` the result is `1 / (1 + e)`, or `e / (1 + e)` for negative x. A division
    takes as long as ten multiplications, so `1 / (1 + e)` is approximated by Newton's method. The
    remainder of the quotient q is then computed as `numerator - q - q * e`, in which `1 + e` is not
    rounded.
    """
    falling = decay(-abs(x))
    total = 1.0 + falling
    inverse = polynomial(total, INVERSE)
    for _ in range(STEPS[x.format]):
        inverse = fma(inverse, fma(-total, inverse, 1.0), inverse)
    numerator = where(x < 0.0, falling, x.like(1.0))
    quotient = numerator * inverse
    return fma(fma(-quotient, falling, numerator - quotient), inverse, quotient)
