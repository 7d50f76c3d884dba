"""The operator table: the one place where the mathematics is written.

All before was to let it be written as it is in a book. Each row gives an operator's name, its value
and the partial derivative for each argument, in terms of the arguments and the output. Every stage
and backend lifts these rows, so a row added here (and a row of samples in `mt_operators.testing`)
is a new operator everywhere, with its gradient. The rows that go on where this file ends are in
`mt_operators.functions.activations`, of networks, and in `mt_operators.functions.special`.

How to write a row: arithmetic, comparisons and the functions of `core/elementary.py`; no `if`,
`and`, `or` on values (choose with `where`), so that it runs on whole arrays and on symbols too. A
partial derivative may use any elementary function: as they ask their operands, `cos` in the
derivative of `sin` is a recorded cosine of a recorded scalar, and can be differentiated again. The
function of a row that others are written with (`sigmoid` below) is `asking` as well: it is taken
for that operator, with its own derivative, wherever computations are recorded.

Conventions. Outside its domain the value of an operator is nan. At a kink the derivative is the
mean of its two sides, 0 for `abs` at 0 and a half for each of two equal arguments of `maximum`.
Where torch takes one side, so does the table: `relu` the left one, 0, `clamp` the inner one, 1.
Where a value jumps the derivative is that of the steps, 0. At nan that of `relu`, `maximum` and
`minimum` is 1, so that what comes back meets the nan, and that of `clamp` 0, as in torch. Of two
zeros `maximum`, `minimum` and what is written with them may return either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from mt_operators.core.elementary import (
    acos,
    acosh,
    asin,
    asinh,
    asking,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    cos,
    cosh,
    div,
    erf,
    erfc,
    exp,
    exp2,
    expm1,
    floor,
    floor_divide,
    fmod,
    gcd,
    hypot,
    log,
    log1p,
    log2,
    log10,
    maximum,
    minimum,
    pow,
    round,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
    where,
)
from mt_operators.core.formula import EVERYWHERE, one, parameters_of, zero
from mt_operators.core.registry import OperatorTable

OPERATORS = OperatorTable()
"""The table of all operators."""

define = partial(OPERATORS.add, trial=False)
define_real = partial(define, result="real")


def define_steps(name: str, function: Callable[..., Any], **rest: Any) -> None:
    """Add a row whose value only jumps, so that every derivative is 0."""
    define(name, function, *[zero] * len(parameters_of(function)), gates=True, **rest)


define_truth = partial(define_steps, result="truth")
define_whole = partial(define_steps, result="whole")


FROM_MINUS_1, FROM_0, FROM_1 = (((low, math.inf),) for low in (-1.0, 0.0, 1.0))
WITHIN_1 = ((-1.0, 1.0),)

LN_2 = math.log(2.0)
LN_10 = math.log(10.0)
TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)
ROOT_PI_BY_2 = math.sqrt(math.pi) / 2.0
ROOT_HALF = math.sqrt(0.5)
ONE_OVER_ROOT_2_PI = 1.0 / math.sqrt(2.0 * math.pi)

# --- Arithmetic ---------------------------------------------------------------------------------

define("id", lambda x: x, one, in_place=False, note="the argument itself")
define(
    "neg",
    lambda x: -x,
    lambda x, out: -1.0,
    takes_bool=False,
    for_bool="logical_not",
    aliases=("negative",),
    note="-x",
)
define("add", lambda x, y: x + y, one, one, identity=0, note="x + y")
define(
    "sub",
    lambda x, y: x - y,
    one,
    lambda x, y, out: -1.0,
    takes_bool=False,
    for_bool="ne",
    note="x - y",
)
define(
    "mul",
    lambda x, y: x * y,
    lambda x, y, out: y,
    lambda x, y, out: x,
    identity=1,
    aliases=("multiply",),
    note="x y",
)
define_real(
    "div",
    div,
    lambda x, y, out: div(1.0, y),
    lambda x, y, out: -div(out, y),
    note="x / y; IEEE 754's infinity or nan where y is zero",
)
define_real(
    "inv",
    lambda x: div(1.0, x),
    lambda x, out: -(out * out),
    aliases=("reciprocal",),
    note="1 / x",
)
define("square", lambda x: x * x, lambda x, out: 2.0 * x, note="x x")
define(
    "pow",
    pow,
    # x ** 0 is 1 for every x, so its derivative is 0: 1 stands in for x where x ** -1 would be nan
    # or overflow, also in float32.
    lambda x, y, out: y * pow(where(y == 0.0, where(abs(x) > 1e-37, x, 1.0), x), y - 1.0),
    # 0 ** y does not vary with y >= 0 but at 0: log(1) stands in for the infinite log(0).
    lambda x, y, out: out * log(where(x == 0.0, where(y >= 0.0, 1.0, x), x)),
    takes_bool=False,
    closed=False,
    note="x to the power y; nan for x < 0 unless y is whole",
)
define_real("sqrt", sqrt, lambda x, out: div(0.5, out), domain=FROM_0, note="square root")
define_real(
    "rsqrt",
    lambda x: div(1.0, sqrt(x)),
    lambda x, out: -0.5 * (out * out * out),
    domain=FROM_0,
    note="1 / sqrt(x)",
)

define_real(
    "hypot",
    hypot,
    lambda x, y, out: div(x, where(out == 0.0, 1.0, out)),
    lambda x, y, out: div(y, where(out == 0.0, 1.0, out)),
    note="sqrt(x x + y y), also where squares overflow; derivatives 0 at the origin",
)
define_real(
    "lerp",
    # From the nearer end, so that the weight 1 gives exactly y.
    lambda x, y, weight: where(
        abs(weight) < 0.5, x + weight * (y - x), y + (y - x) * (weight - 1.0)
    ),
    lambda x, y, weight, out: 1.0 - weight,
    lambda x, y, weight, out: weight,
    lambda x, y, weight, out: y - x,
    note="the way from x to y, of which it goes the share `weight`",
)

# --- Exponentials and logarithms ----------------------------------------------------------------

define_real("exp", exp, lambda x, out: out, note="e to the power x")
define_real("exp2", exp2, lambda x, out: LN_2 * out, note="2 to the power x")
define_real("expm1", expm1, lambda x, out: out + 1.0, note="exp(x) - 1, for small x too")
define_real("log", log, lambda x, out: div(1.0, x), domain=FROM_0, note="natural logarithm")
define_real(
    "log2", log2, lambda x, out: div(1.0 / LN_2, x), domain=FROM_0, note="logarithm to base 2"
)
define_real(
    "log10", log10, lambda x, out: div(1.0 / LN_10, x), domain=FROM_0, note="logarithm to base 10"
)
define_real(
    "log1p",
    log1p,
    lambda x, out: div(1.0, 1.0 + x),
    domain=FROM_MINUS_1,
    note="log(1 + x), for small x too",
)

define_real(
    "xlogy",
    lambda x, y: where((x == 0.0) & (y == y), 0.0, x * log(y)),
    # Where x is 0, the value is 0 for every y: 1 stands in for the y that have no finite logarithm
    # or quotient.
    lambda x, y, out: log(where((x == 0.0) & (y <= 0.0), 1.0, y)),
    lambda x, y, out: div(x, where((x == 0.0) & (y == 0.0), 1.0, y)),
    domain=(EVERYWHERE, *FROM_0),
    note="x log(y), and 0 where x is 0",
)

# --- Trigonometric functions --------------------------------------------------------------------

define_real("sin", sin, lambda x, out: cos(x), note="sine, x in radians")
define_real("cos", cos, lambda x, out: -sin(x), note="cosine, x in radians")
define_real("tan", tan, lambda x, out: 1.0 + out * out, note="tangent, x in radians")
# (1 - x) (1 + x) keeps the digits near 1 that 1 - x x loses.
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


def by_square(x: float, length: float) -> float:
    """Return `x` by the square of `length`, which is not less: 0 if both are 0, or infinite."""
    inside = where(length < math.inf, x, 0.0)
    divisor = where(length == 0.0, 1.0, length)
    return div(div(inside, divisor), divisor)


define_real(
    "atan2",
    atan2,
    lambda y, x, out: by_square(x, hypot(x, y)),
    lambda y, x, out: -by_square(y, hypot(x, y)),
    aliases=("arctan2",),
    note="the angle of the point (x, y), from -pi to pi; derivatives 0 at the origin",
)

# --- Hyperbolic functions -----------------------------------------------------------------------

define_real("sinh", sinh, lambda x, out: cosh(x), note="hyperbolic sine")
define_real("cosh", cosh, lambda x, out: sinh(x), note="hyperbolic cosine")
define_real("tanh", tanh, lambda x, out: 1.0 - out * out, note="hyperbolic tangent")
define_real(
    "asinh",
    asinh,
    lambda x, out: div(1.0, hypot(1.0, x)),
    aliases=("arcsinh",),
    note="the number whose hyperbolic sine is x",
)
# Two roots, so that nothing overflows. Below -1 the formula holds although there is no value.
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

# --- Sigmoids -----------------------------------------------------------------------------------


@asking
def sigmoid(x: float) -> float:
    """Return `1 / (1 + exp(-x))`, for rows that are written with it."""
    decay = exp(-abs(x))  # at most 1, so that neither tail overflows
    return div(where(x >= 0.0, 1.0, decay), 1.0 + decay)


@asking
def softplus(x: float) -> float:
    """Return `log(1 + exp(x))`, which would overflow, for rows that are written with it."""
    return maximum(x, 0.0) + log1p(exp(-abs(x)))


def gap(x: float, y: float) -> float:
    """Return `x - y`, and 0 between equal infinities."""
    return where((x == y) & (abs(x) == math.inf), 0.0, x - y)


define_real(
    "sigmoid",
    sigmoid,
    lambda x, out: out * (1.0 - out),
    aliases=("expit",),
    note="1 / (1 + exp(-x))",
)
define_real("softplus", softplus, lambda x, out: sigmoid(x), in_place=False, note="log(1 + exp(x))")
define_real(
    "logaddexp",
    lambda x, y: maximum(x, y) + log1p(exp(-abs(gap(x, y)))),
    lambda x, y, out: sigmoid(gap(x, y)),
    lambda x, y, out: sigmoid(gap(y, x)),
    in_place=False,
    note="log(exp(x) + exp(y)), which would overflow",
)
define_real(
    "erf",
    erf,
    lambda x, out: TWO_OVER_ROOT_PI * exp(-(x * x)),
    note="error function: the integral of 2 / sqrt(pi) exp(-t t) from 0 to x",
)
define_real(
    "erfc",
    erfc,
    lambda x, out: -TWO_OVER_ROOT_PI * exp(-(x * x)),
    note="1 - erf(x), exact also where erf(x) is almost 1",
)


@asking
def ndtr(x: float) -> float:
    """Return the share of the normal distribution below `x`: by erfc, which keeps its digits."""
    return 0.5 * erfc(-ROOT_HALF * x)


def normal_density(x: float) -> float:
    """Return the density of the normal distribution at `x`."""
    return ONE_OVER_ROOT_2_PI * exp(-0.5 * (x * x))


define_real(
    "ndtr",
    ndtr,
    lambda x, out: normal_density(x),
    in_place=False,
    note="the share of the normal distribution of mean 0 and variance 1 that lies below x",
)

# --- Kinks and choices --------------------------------------------------------------------------


@asking
def sign(x: float) -> float:
    """Return 1, 0 or -1 as `x` is positive, zero or negative, for rows that are written with it.

    Of both zeros it is the positive one, which `abs` makes of them; nan stays.
    """
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, abs(x)))


define(
    "abs",
    lambda x: abs(x),  # noqa: PLW0108 - which asks
    lambda x, out: sign(x),
    takes_bool=False,
    aliases=("absolute",),
    note="|x|; derivative 0 at 0",
)
define_steps(
    "sign",
    sign,
    aliases=("sgn",),
    note="1, 0 or -1 as x is positive, zero or negative; derivative 0",
)
define(
    "relu",
    lambda x: maximum(x, 0.0),
    lambda x, out: where(x <= 0.0, 0.0, 1.0),
    gates=True,
    takes_bool=False,
    note="max(x, 0); derivative 0 at 0",
)
define(
    "maximum",
    maximum,
    lambda x, y, out: where(x < y, 0.0, where(x == y, 0.5, 1.0)),
    lambda x, y, out: where(y < x, 0.0, where(x == y, 0.5, 1.0)),
    gates=True,
    in_place=False,
    note="the larger; nan if either is nan; equal arguments share the derivative",
)
define(
    "minimum",
    minimum,
    lambda x, y, out: where(x > y, 0.0, where(x == y, 0.5, 1.0)),
    lambda x, y, out: where(y > x, 0.0, where(x == y, 0.5, 1.0)),
    gates=True,
    in_place=False,
    note="the smaller; nan if either is nan; equal arguments share the derivative",
)
define(
    "clamp_min",
    lambda x, low: maximum(x, low),  # noqa: PLW0108 - `maximum` has other derivatives
    lambda x, low, out: where(x >= low, 1.0, 0.0),
    lambda x, low, out: where(x < low, 1.0, 0.0),
    gates=True,
    note="x, but at least `low`; nan if either is nan; equal arguments give x the derivative",
)
define(
    "clamp_max",
    lambda x, high: minimum(x, high),  # noqa: PLW0108
    lambda x, high, out: where(x <= high, 1.0, 0.0),
    lambda x, high, out: where(x > high, 1.0, 0.0),
    gates=True,
    note="x, but at most `high`; nan if either is nan; equal arguments give x the derivative",
)
define(
    "clamp",
    lambda x, low, high: minimum(maximum(x, low), high),
    lambda x, low, high, out: where((x >= low) & (x <= high), 1.0, 0.0),
    lambda x, low, high, out: where((x < low) & (low < high), 1.0, 0.0),
    lambda x, low, high, out: where((x > high) | (low > high), 1.0, 0.0),
    gates=True,
    takes_bool=False,
    note="x, but at least `low` and at most `high`, which wins; at a bound x has the derivative",
)


def signbit(x: float) -> bool:
    """Whether `x` is negative, as -0.0 is: only its reciprocal tells."""
    return where(x == 0.0, div(1.0, x), x) < 0.0


define_real(
    "copysign",
    lambda x, y: where(signbit(y), -abs(x), abs(x)),
    lambda x, y, out: where(signbit(y), -sign(x), sign(x)),
    zero,
    note="|x| with the sign of y, of a zero too; derivative 0 where x is 0",
)
define(
    "where",
    where,
    zero,
    lambda condition, x, y, out: where(condition, 1.0, 0.0),
    lambda condition, x, y, out: where(condition, 0.0, 1.0),
    gates=True,
    chooses=True,
    in_place=False,
    note="x where the condition holds, else y",
)

# --- Rounding: steps, so every derivative is zero -----------------------------------------------

define_steps(
    "floor", floor, takes_bool=False, note="the largest whole number not above x; derivative 0"
)
define_steps(
    "ceil", ceil, takes_bool=False, note="the smallest whole number not below x; derivative 0"
)
define_steps(
    "trunc", trunc, takes_bool=False, aliases=("fix",), note="x without its fraction; derivative 0"
)
define_steps(
    "round",
    round,
    takes_bool=False,
    note="the nearest whole number, of two the even one; derivative 0",
)

# --- Division that is rounded, and its remainder ------------------------------------------------


def remainder(x: float, y: float) -> float:
    """Return the remainder of `floor_divide`, which has the sign of `y`."""
    rest = fmod(x, y)
    return where((rest != 0.0) & ((rest < 0.0) != (y < 0.0)), rest + y, rest)


define_steps(
    "floor_divide",
    floor_divide,
    closed=False,
    takes_bool=False,
    note="x / y rounded down; derivative 0",
)
define(
    "remainder",
    remainder,
    one,
    lambda x, y, out: -floor_divide(x, y),
    closed=False,
    takes_bool=False,
    note="the remainder of x / y rounded down, with the sign of y",
)
define(
    "fmod",
    fmod,
    one,
    lambda x, y, out: -trunc(div(x, y)),
    closed=False,
    takes_bool=False,
    note="the remainder of x / y rounded towards zero, with the sign of x",
)

# --- Comparisons and logic: steps too -----------------------------------------------------------

define_truth("lt", lambda x, y: x < y, aliases=("less",), note="x < y")
define_truth("le", lambda x, y: x <= y, aliases=("less_equal",), note="x <= y")
define_truth("gt", lambda x, y: x > y, aliases=("greater",), note="x > y")
define_truth("ge", lambda x, y: x >= y, aliases=("greater_equal",), note="x >= y")
define_truth("eq", lambda x, y: x == y, note="x == y; nan equals nothing")
define_truth("ne", lambda x, y: x != y, aliases=("not_equal",), note="x != y")
define_truth(
    "is_close",
    lambda x, y: abs(x - y) < 1e-2,
    takes_bool=False,
    for_bool="eq",
    in_place=False,
    note="|x - y| < 1/100",
)
define_truth(
    "logical_and", lambda x, y: (x != 0) & (y != 0), identity=1, note="whether both are non-zero"
)
define_truth(
    "logical_or", lambda x, y: (x != 0) | (y != 0), identity=0, note="whether either is non-zero"
)
define_truth(
    "logical_xor",
    lambda x, y: (x != 0) != (y != 0),
    identity=0,
    note="whether exactly one is non-zero",
)
define_truth("logical_not", lambda x: x == 0, note="whether x is zero")
define_truth(
    "signbit", signbit, takes_integers=False, in_place=False, note="whether x is negative, as -0 is"
)
define_truth("isnan", lambda x: x != x, in_place=False, note="whether x is nan")
define_truth("isinf", lambda x: abs(x) == math.inf, in_place=False, note="whether x is infinite")
define_truth(
    "isfinite",
    lambda x: abs(x) < math.inf,
    in_place=False,
    note="whether x is neither infinite nor nan",
)

# --- Whole numbers ------------------------------------------------------------------------------

define_whole("bitwise_and", bitwise_and, for_bool="logical_and", note="the bits that both have")
define_whole("bitwise_or", bitwise_or, for_bool="logical_or", note="the bits that either has")
define_whole(
    "bitwise_xor", bitwise_xor, for_bool="logical_xor", note="the bits that exactly one has"
)
define_whole("bitwise_not", bitwise_not, for_bool="logical_not", note="the bits that x lacks")
define_whole(
    "bitwise_left_shift",
    bitwise_left_shift,
    takes_bool=False,
    note="the bits of x moved up by y places",
)
define_whole(
    "bitwise_right_shift",
    bitwise_right_shift,
    takes_bool=False,
    note="the bits of x moved down by y places; its sign stays",
)
define_whole("gcd", gcd, takes_bool=False, note="the greatest common divisor, not negative")


def lcm(x: Any, y: Any) -> Any:
    """Return the least common multiple, not negative; 0 if either is 0."""
    divisor = gcd(x, y)
    return abs(floor_divide(x, where(divisor == 0, 1, divisor)) * y)


define_whole("lcm", lcm, takes_bool=False, note="the least common multiple, not negative")
