"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import math

from mt_operators.core.elementary import as_float, div, elementary, from_math, sqrt, where
from mt_operators.core.table import define_real
from mt_operators.functions.arithmetic import hypot

FROM_1 = ((1.0, math.inf),)
WITHIN_1 = ((-1.0, 1.0),)

tan = from_math(math.tan, "Return the tangent of an angle in radians; nan at the infinities.")
asin = from_math(math.asin, "Return the angle from -pi/2 to pi/2 whose sine is `x`.")
acos = from_math(math.acos, "Return the angle from 0 to pi whose cosine is `x`.")
atan = from_math(math.atan, "Return the angle from -pi/2 to pi/2 whose tangent is `x`.")
cosh = from_math(math.cosh, "Return the hyperbolic cosine; infinite beyond about 710.5.")
asinh = from_math(math.asinh, "Return the number whose hyperbolic sine is `x`.")
acosh = from_math(math.acosh, "Return the number, not negative, whose hyperbolic cosine is `x`.")
atanh = from_math(
    math.atanh,
    "Return the number whose hyperbolic tangent is `x`.",
    {-1.0: -math.inf, 1.0: math.inf},
)


@elementary
def sinh(x: float) -> float:
    """Return the hyperbolic sine; infinite beyond about 710.5."""
    try:
        return math.sinh(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


@elementary
def atan2(y: float, x: float) -> float:
    """Return the angle in radians, from -pi to pi, of the point `(x, y)`; zeros keep their sign."""
    return math.atan2(as_float(y), as_float(x))


def by_square(x: float, length: float) -> float:
    """Return `x / length²`, for `length >= abs(x)`; 0 if both are 0 or infinite."""
    inside = where(length < math.inf, x, 0.0)
    divisor = where(length == 0.0, 1.0, length)
    return div(div(inside, divisor), divisor)


define_real("tan", tan, lambda x, out: 1.0 + out * out, note="the tangent, x in radians")
# (1 - x) (1 + x) keeps digits near 1 that 1 - x x would lose.
define_real(
    "asin",
    asin,
    lambda x, out: div(1.0, sqrt((1.0 - x) * (1.0 + x))),
    domain=WITHIN_1,
    aliases=("arcsin",),
    note="the angle whose sine is x",
)
define_real(
    "acos",
    acos,
    lambda x, out: div(-1.0, sqrt((1.0 - x) * (1.0 + x))),
    domain=WITHIN_1,
    aliases=("arccos",),
    note="the angle whose cosine is x",
)
define_real(
    "atan",
    atan,
    lambda x, out: div(1.0, 1.0 + x * x),
    aliases=("arctan",),
    note="the angle whose tangent is x",
)
define_real(
    "atan2",
    atan2,
    lambda y, x, out: by_square(x, hypot(x, y)),
    lambda y, x, out: -by_square(y, hypot(x, y)),
    aliases=("arctan2",),
    note="the angle, from -pi to pi, of the point (x, y); derivatives 0 at (0, 0)",
)
define_real("sinh", sinh, lambda x, out: cosh(x), note="the hyperbolic sine")
define_real("cosh", cosh, lambda x, out: sinh(x), note="the hyperbolic cosine")
define_real(
    "asinh",
    asinh,
    lambda x, out: div(1.0, hypot(1.0, x)),
    aliases=("arcsinh",),
    note="the number whose hyperbolic sine is x",
)
# Two roots avoid overflow. Below -1 the formula has a value although acosh has none.
define_real(
    "acosh",
    acosh,
    lambda x, out: div(1.0, sqrt(abs(x) - 1.0) * sqrt(abs(x) + 1.0)),
    domain=FROM_1,
    aliases=("arccosh",),
    note="the number whose hyperbolic cosine is x",
)
define_real(
    "atanh",
    atanh,
    lambda x, out: div(1.0, (1.0 - x) * (1.0 + x)),
    domain=WITHIN_1,
    aliases=("arctanh",),
    note="the number whose hyperbolic tangent is x",
)
