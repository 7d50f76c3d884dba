"""Special functions: erf, ndtr, sinc, erfinv, lgamma and digamma.

Except for erf and erfc, they need no support from compilers: series and iterations reduce them to
sines, logarithms and error functions, accurate to a few units of the last digit in float64. Where a
series converges only for some x, `where` replaces the other arguments and selects another formula
for them.
"""

from __future__ import annotations

import math

from mt_operators.core.elementary import dispatched, div, exp, from_math, log, sin, sqrt, where
from mt_operators.core.table import define_real
from mt_operators.functions.arithmetic import floor, round
from mt_operators.functions.exponential import log1p
from mt_operators.functions.trigonometric import WITHIN_1

TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
ROOT_PI_BY_2 = math.sqrt(math.pi) / 2.0
ROOT_HALF = math.sqrt(0.5)
ONE_OVER_ROOT_2_PI = 1.0 / math.sqrt(2.0 * math.pi)

# --- The error functions and the normal distribution ---------------------------------------------

erf = from_math(math.erf, "Return the integral of `2 / sqrt(pi) * exp(-t * t)` from 0 to `x`.")
erfc = from_math(math.erfc, "Return `1 - erf(x)`, accurate even where `erf(x)` is almost 1.")


@dispatched
def ndtr(x: float) -> float:
    """Return the standard normal distribution function, accurate for negative `x` too."""
    return 0.5 * erfc(-ROOT_HALF * x)


def normal_density(x: float) -> float:
    """Return the density of the normal distribution at `x`."""
    return ONE_OVER_ROOT_2_PI * exp(-0.5 * (x * x))


define_real(
    "erf",
    erf,
    lambda x, out: TWO_OVER_ROOT_PI * exp(-(x * x)),
    note="the error function, the integral of 2 / sqrt(pi) * exp(-t * t) from 0 to x",
)
define_real(
    "erfc",
    erfc,
    lambda x, out: -TWO_OVER_ROOT_PI * exp(-(x * x)),
    note="1 - erf(x), accurate even where erf(x) is almost 1",
)
define_real(
    "ndtr",
    ndtr,
    lambda x, out: normal_density(x),
    note="the standard normal distribution function: the probability of a value below x",
)

# --- Sines of pi x --------------------------------------------------------------------------------


def polynomial(x: float, coefficients: tuple[float, ...]) -> float:
    """Return a polynomial by Horner's rule; the coefficient of the highest power comes first."""
    total = coefficients[0] * x + coefficients[1]
    for coefficient in coefficients[2:]:
        total = total * x + coefficient
    return total


def from_nearest(x: float) -> float:
    """Return the exact difference of `x` and the nearest integer, from -1/2 to 1/2."""
    return x - round(x)


def sinpi(x: float) -> float:
    """Return sin(pi x), which is exactly 0 at integers, however large."""
    turns = 0.5 * round(x)
    sine = sin(math.pi * from_nearest(x))
    return where(turns == floor(turns), sine, -sine)


def cospi(x: float) -> float:
    """Return cos(pi x), which is exactly 0 halfway between integers."""
    turns = 0.5 * round(x)
    cosine = sin(math.pi * (0.5 - abs(from_nearest(x))))
    return where(turns == floor(turns), cosine, -cosine)


@dispatched
def sinc(x: float) -> float:
    """Return `sin(pi * x) / (pi * x)`, and 1 at 0."""
    divisor = math.pi * where(x == 0.0, 1.0, x)
    return where(x == 0.0, 1.0, div(sinpi(x), divisor))


SINC_SLOPE = tuple((-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(9, 0, -1))
"""The coefficients of the derivative of sin(t) / t, divided by t, in powers of t t."""


def sinc_slope(x: float) -> float:
    """Return the derivative of sinc, by the series where its two terms would cancel."""
    near = abs(x) < 0.25
    t = math.pi * where(near, x, 0.0)
    far = where(near, 1.0, x)
    slope = div(cospi(far) - sinc(far), far)
    return where(near, math.pi * (t * polynomial(t * t, SINC_SLOPE)), slope)


define_real("sinc", sinc, lambda x, out: sinc_slope(x), note="sin(pi * x) / (pi * x), and 1 at 0")

# --- The inverse of the error function ----------------------------------------------------------

WINITZKI = 0.147  # Winitzki, A handy approximation for the error function and its inverse, 2008
TWO_BY_PI_WINITZKI = 2.0 / (math.pi * WINITZKI)


def erfinv_start(y: float) -> float:
    """Return an approximation of erfinv for `y` from 0 to below 1, with an error below 0.2%."""
    logarithm = log1p(-(y * y))
    middle, rest = TWO_BY_PI_WINITZKI + 0.5 * logarithm, -div(logarithm, WINITZKI)
    root = sqrt(middle * middle + rest)
    positive = middle > 0.0  # there the difference root - middle would lose digits
    quotient = div(rest, where(positive, root + middle, 1.0))
    return sqrt(where(positive, quotient, root - middle))


def erfinv_step(x: float, y: float) -> float:
    """Return the next x of Halley's iteration for `erf(x) = y`, which triples the digits."""
    error = where(y < 0.5, erf(x) - y, (1.0 - y) - erfc(x))
    newton = ROOT_PI_BY_2 * exp(x * x) * error
    return x - div(newton, 1.0 + x * newton)


def erfinv_inside(y: float) -> float:
    """Return erfinv of `y`, which must be in [0, 1)."""
    return erfinv_step(erfinv_step(erfinv_start(y), y), y)


def with_sign(x: float, y: float) -> float:
    """Return the nonnegative `x` with the sign of `y`, or `y` if it is a zero."""
    return where(y < 0.0, -x, where(y == 0.0, y, x))


def erfinv(y: float) -> float:
    """Return the `x` for which `erf(x)` is `y`; infinite at -1 and 1, nan beyond."""
    inside = where(abs(y) < 1.0, abs(y), 0.0)
    outside = where(abs(y) == 1.0, math.inf, math.nan)
    return with_sign(where(abs(y) < 1.0, erfinv_inside(inside), outside), y)


define_real(
    "erfinv",
    erfinv,
    lambda y, out: ROOT_PI_BY_2 * exp(out * out),
    domain=WITHIN_1,
    note="the inverse of the error function; infinite at -1 and 1, nan beyond",
)

# --- The logarithm of the gamma function, and its derivatives -----------------------------------
#
# For positive x series are used: around 2 up to 10, and asymptotic ones beyond. The values for
# negative x follow by reflection: gamma(x) gamma(1 - x) = pi / sin(pi x).

HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
ONE_MINUS_EULER = 0.42278433509846713

ZETA_SERIES = (
    5.731367241678862e-10,
    1.1921401405860912e-09,
    2.4836745438024785e-09,
    5.183475041970047e-09,
    1.0838659214896955e-08,
    2.2711094608943164e-08,
    4.7698101693639804e-08,
    1.0043224823968099e-07,
    2.1207184805554665e-07,
    4.492469198764566e-07,
    9.55141213040742e-07,
    2.039215753801366e-06,
    4.374866789907488e-06,
    9.439488275268397e-06,
    2.050721277567069e-05,
    4.492623673813314e-05,
    9.945751278180853e-05,
    0.00022315475845357939,
    0.0005096695247430425,
    0.001192753911703261,
    0.0028905103307415234,
    0.007385551028673986,
    0.020580808427784546,
    0.0673523010531981,
    0.3224670334241132,
)
"""(zeta(k) - 1) / k for k from 26 down to 2: the series of lgamma around 2 (Abramowitz and Stegun,
6.1.33)."""

# Bernoulli numbers: over (2k)(2k - 1) for lgamma, over 2k for digamma, and plain for trigamma.
STIRLING = (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
DIGAMMA = (-3617 / 8160, 1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
TRIGAMMA = (-3617 / 510, 7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6)


def reflected(x: float) -> float:
    """Return `1 - x` for negative `x` and `x` otherwise."""
    return where(x < 0.0, 1.0 - x, x)


def negative_or_half(x: float) -> float:
    """Return `x` if it is negative, otherwise 1/2, at which formulas for negative x are defined."""
    return where(x < 0.0, x, 0.5)


def lgamma_near_2(x: float) -> float:
    """Return lgamma from 0 to 5/2, by the series around 2, 1 or 0."""
    z = where(x < 0.5, x, where(x < 1.5, x - 1.0, x - 2.0))
    around_2 = z * (ONE_MINUS_EULER + z * polynomial(-z, ZETA_SERIES))
    around_1 = around_2 - where(x < 1.5, log1p(where(x < 1.5, z, 0.0)), 0.0)
    return around_1 - where(x < 0.5, log(where(x < 0.5, x, 1.0)), 0.0)


def lgamma_below_10(x: float) -> float:
    """Return lgamma from 0 to 10, by gamma(x) = (x - 1) (x - 2) ... (x - n) gamma(x - n)."""
    down, first, second = 0.0, 1.0, 1.0  # two products, as one could overflow in float16
    for i in (1.0, 2.0, 3.0, 4.0):
        down = down + where(x - i >= 1.5, 1.0, 0.0)
        first = first * where(x - i >= 1.5, x - i, 1.0)
    for i in (5.0, 6.0, 7.0, 8.0):
        down = down + where(x - i >= 1.5, 1.0, 0.0)
        second = second * where(x - i >= 1.5, x - i, 1.0)
    return lgamma_near_2(x - down) + log(first) + log(second)


def lgamma_above_10(x: float) -> float:
    """Return lgamma from 10, by Stirling's series."""
    inverse = div(1.0, x)
    series = inverse * polynomial(inverse * inverse, STIRLING)
    return (x - 0.5) * (log(x) - 1.0) + (HALF_LOG_2_PI - 0.5 + series)


def lgamma_of_positive(x: float) -> float:
    """Return lgamma of a positive number."""
    low = x < 10.0
    return where(low, lgamma_below_10(where(low, x, 2.0)), lgamma_above_10(where(low, 10.0, x)))


def lgamma(x: float) -> float:
    """Return the logarithm of `abs(gamma(x))`; infinite at 0 and at negative integers."""
    left = negative_or_half(x)  # there lgamma(x) = log(pi / |sin(pi x)|) - lgamma(1 - x)
    pole = (sinc(left) == 0.0) | (left == -math.inf)
    reflection = where(pole, math.inf, -log(abs(left)) - log(abs(sinc(left))))
    value = lgamma_of_positive(reflected(where(pole, 1.0, x)))
    return where(x < 0.0, reflection - value, value)


def digamma_of_positive(x: float) -> float:
    """Return digamma of a positive number, by the series from 10 and by recurrence below."""
    low = x < 10.0
    start = where(low, x, 1.0)
    steps = div(1.0, start)
    for i in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):
        steps = steps + div(1.0, start + i)
    y = where(low, x + 10.0, x)
    inverse = div(1.0, y)
    square = inverse * inverse
    series = 0.5 * inverse + square * polynomial(square, DIGAMMA)
    return log(y) - series - where(low, steps, 0.0)


@dispatched
def digamma(x: float) -> float:
    """Return the derivative of `lgamma`; infinite at 0 and nan at negative integers."""
    left, value = negative_or_half(x), digamma_of_positive(reflected(x))
    sine, cosine = sinpi(left), cospi(left)
    reflection = where(sine == 0.0, math.nan, div(cosine, where(sine == 0.0, 1.0, sine)))
    return where(x < 0.0, value - math.pi * reflection, value)


def trigamma_of_positive(x: float) -> float:
    """Return trigamma of a positive number, by the series from 10 and by recurrence below."""
    low = x < 10.0
    start = where(low, x, 1.0)
    steps = div(div(1.0, start), start)
    for i in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0):
        steps = steps + div(1.0, (start + i) * (start + i))
    y = where(low, x + 10.0, x)
    inverse = div(1.0, y)
    square = inverse * inverse
    series = inverse + 0.5 * square + inverse * (square * polynomial(square, TRIGAMMA))
    return series + where(low, steps, 0.0)


def trigamma(x: float) -> float:
    """Return the derivative of digamma; infinite at 0, -1, -2, ..."""
    value = trigamma_of_positive(reflected(x))
    half = div(math.pi, sinpi(negative_or_half(x)))
    return where(x < 0.0, half * half - value, value)


define_real(
    "lgamma",
    lgamma,
    lambda x, out: digamma(x),
    note="the logarithm of |gamma(x)|, the gamma function; infinite at 0 and at negative integers",
)
define_real(
    "digamma",
    digamma,
    lambda x, out: trigamma(x),
    note="the derivative of lgamma; infinite at 0, nan at negative integers",
)
