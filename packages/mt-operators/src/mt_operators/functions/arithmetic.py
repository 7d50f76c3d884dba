"""Rounding, remainders, bounds, signs and distances."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable

from mt_operators.core.elementary import as_float, div, elementary, maximum, minimum, where
from mt_operators.core.row import one, zero
from mt_operators.core.table import define, define_bool, define_real, define_steps, sign

# --- Rounding -----------------------------------------------------------------------------------


def _rounded(rounding: Callable[[float], int], x: float) -> float:
    """Return `x` rounded, with the sign of `x`; integers, infinities and nan are unchanged."""
    if isinstance(x, int) or not math.isfinite(x):
        return x
    return math.copysign(rounding(x), x)


@elementary
def floor(x: float) -> float:
    """Return the largest integer that is not greater than `x`."""
    return _rounded(math.floor, x)


@elementary
def ceil(x: float) -> float:
    """Return the smallest integer that is not less than `x`."""
    return _rounded(math.ceil, x)


@elementary
def trunc(x: float) -> float:
    """Return `x` rounded towards 0."""
    return _rounded(math.trunc, x)


@elementary
def round(x: float) -> float:
    """Return the nearest integer, with ties to even."""
    return _rounded(builtins.round, x)


@elementary
def floor_divide(x: float, y: float) -> float:
    """Return the exact quotient `x / y` rounded down; the result of `div` if `y` is 0."""
    try:
        return x // y
    except ZeroDivisionError:
        return div(x, y)
    except OverflowError:
        return as_float(x) // as_float(y)


@elementary
def fmod(x: float, y: float) -> float:
    """Return the remainder of `x / y` rounded towards 0, with the sign of `x`; nan if `y` is 0."""
    if isinstance(x, int) and isinstance(y, int) and y != 0:
        remainder = abs(x) % abs(y)
        return -remainder if x < 0 else remainder
    try:
        return math.fmod(as_float(x), as_float(y))
    except ValueError:
        return math.nan


define_steps("floor", floor, note="the largest integer not above x; derivative 0")
define_steps("ceil", ceil, note="the smallest integer not below x; derivative 0")
define_steps("trunc", trunc, aliases=("fix",), note="x without its fraction; derivative 0")
define_steps("round", round, note="the nearest integer, with ties to even; derivative 0")


def remainder(x: float, y: float) -> float:
    """Return the remainder of `floor_divide`, with the sign of `y`."""
    rest = fmod(x, y)
    return where((rest != 0.0) & ((rest < 0.0) != (y < 0.0)), rest + y, rest)


define_steps("floor_divide", floor_divide, note="x / y rounded down; derivative 0")
define(
    "remainder",
    remainder,
    one,
    lambda x, y, out: -floor_divide(x, y),
    note="the remainder of x / y rounded down, with the sign of y",
)
define(
    "fmod",
    fmod,
    one,
    lambda x, y, out: -trunc(div(x, y)),
    note="the remainder of x / y rounded towards zero, with the sign of x",
)

# --- Bounds and signs ---------------------------------------------------------------------------

define(
    "clamp_min",
    lambda x, low: maximum(x, low),  # noqa: PLW0108 - `maximum` has other derivatives
    lambda x, low, out: where(x >= low, 1.0, 0.0),
    lambda x, low, out: where(x < low, 1.0, 0.0),
    selects=True,
    note="max(x, low); nan if either is nan; if they are equal, the derivative is that of x",
)
define(
    "clamp_max",
    lambda x, high: minimum(x, high),  # noqa: PLW0108
    lambda x, high, out: where(x <= high, 1.0, 0.0),
    lambda x, high, out: where(x > high, 1.0, 0.0),
    selects=True,
    note="min(x, high); nan if either is nan; if they are equal, the derivative is that of x",
)
define(
    "clamp",
    lambda x, low, high: minimum(maximum(x, low), high),
    lambda x, low, high, out: where((x >= low) & (x <= high), 1.0, 0.0),
    lambda x, low, high, out: where((x < low) & (low < high), 1.0, 0.0),
    lambda x, low, high, out: where((x > high) | (low > high), 1.0, 0.0),
    selects=True,
    note="min(max(x, low), high); at a bound, the derivative is that of x",
)


def signbit(x: float) -> bool:
    """Return whether `x` is negative or -0.0, whose reciprocal is -inf."""
    return where(x == 0.0, div(1.0, x), x) < 0.0


define_bool("signbit", signbit, note="whether x is negative or -0")
define_real(
    "copysign",
    lambda x, y: where(signbit(y), -abs(x), abs(x)),
    lambda x, y, out: where(signbit(y), -sign(x), sign(x)),
    zero,
    note="|x| with the sign of y, also of a zero; derivative 0 where x is 0",
)

# --- Distances ----------------------------------------------------------------------------------


@elementary
def hypot(x: float, y: float) -> float:
    """Return the distance of the point `(x, y)` from the origin, even if squares overflow."""
    return math.hypot(as_float(x), as_float(y))


define_real(
    "hypot",
    hypot,
    lambda x, y, out: div(x, where(out == 0.0, 1.0, out)),
    lambda x, y, out: div(y, where(out == 0.0, 1.0, out)),
    note="sqrt(x * x + y * y), even if squares overflow; derivatives 0 at the origin",
)
define_real(
    "lerp",
    # Start at the nearer end, so that the weight 1 gives exactly y.
    lambda x, y, weight: where(
        abs(weight) < 0.5, x + weight * (y - x), y + (y - x) * (weight - 1.0)
    ),
    lambda x, y, weight, out: 1.0 - weight,
    lambda x, y, weight, out: weight,
    lambda x, y, weight, out: y - x,
    note="x + weight * (y - x)",
)
