"""Elementary functions: what the operator table is written with, beside Python's operators.

Up to `operators.py` the lesson is about operators, and from `parameter.py` on about trees of
modules. Here the first half begins.

On floats these functions compute, with `math`. Any other value they *ask*, as Python's operators
ask their operands: `exp(x)` is `x.__operator__("exp", (x,))` where `x` has such a method. So the
function of a row runs as it stands on floats, on recorded scalars, on tensors, and on symbols that
write down what is computed (`mt_operators.core.tracing`). These functions are all that a stage or a
compiler has to *spell* in its own way: to say, for each name, by what it is computed there.

Python's own functions raise where IEEE 754 has an answer (`1.0 / 0.0`, `math.exp(1000)`,
`math.log(-1)`). All other stages follow IEEE 754, and so do these: a pole gives an infinity and a
point outside the domain gives nan.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

MOST_BITS = 2**22
"""Beyond so many bits a power of whole numbers is a float: it would take minutes to compute."""

ELEMENTARY: dict[str, Callable[..., Any]] = {}
"""Every function that a stage must spell, by name."""


def ask(name: str, operands: tuple[Any, ...]) -> Any:
    """Return the answer of the first operand that has `__operator__`, or else NotImplemented."""
    for operand in operands:
        if operand.__class__ is not float:
            answer = getattr(operand, "__operator__", None)
            if answer is not None:
                return answer(name, operands)
    return NotImplemented


def asking(function: F) -> F:
    """Let a function ask its operands, and compute only if all of them are plain numbers.

    The first operand that has a method `__operator__(name, operands)` says what the result is. The
    function itself stays at hand as `composition`, for who wants to know what it is written with.
    """
    name = function.__name__

    @wraps(function)
    def asks(*operands: Any) -> Any:
        answer = ask(name, operands)
        return function(*operands) if answer is NotImplemented else answer

    asks.composition = function  # type: ignore[attr-defined]
    return asks  # type: ignore[return-value]


def composition(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what an `asking` function is written with; an elementary one, or any other, itself."""
    inner: Callable[..., Any] = getattr(function, "composition", function)
    return inner


def elementary(function: F) -> F:
    """Let `function` ask its operands, and enter it into `ELEMENTARY` under its own name."""
    asks = ELEMENTARY[function.__name__] = asking(function)
    # What it computes with takes floats only: it is written with nothing but itself.
    asks.composition = asks  # type: ignore[attr-defined]
    return asks


def ieee_754(
    poles: Mapping[float, float] = MappingProxyType({}),
) -> Callable[[Callable[[float], float]], Callable[[float], float]]:
    """Let a function of `math` yield what IEEE 754 says wherever it would raise.

    That is infinity where the value overflows, and nan outside the domain.

    Args:
        poles: the points at which the value is infinite instead of nan, and that infinity.
    """

    def decorate(function: Callable[[float], float]) -> Callable[[float], float]:
        @wraps(function)
        def everywhere(x: float) -> float:
            try:
                return function(x)
            except ValueError:
                return poles.get(x, math.nan)
            except OverflowError:
                return everywhere(_as_float(x)) if isinstance(x, int) else math.inf

        return everywhere

    return decorate


def _as_float(x: float | int) -> float:
    """Return a number as a float, an infinity if it is a whole number beyond all floats."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


# --- Choices ------------------------------------------------------------------------------------


@elementary
def where(condition: bool, if_true: float, if_false: float) -> float:
    """Return `if_true` where the condition holds, else `if_false`. Both are evaluated."""
    return if_true if condition else if_false


@elementary
def maximum(x: float, y: float) -> float:
    """Return the larger of two numbers; nan if either is nan."""
    return x if x >= y or x != x else y


@elementary
def minimum(x: float, y: float) -> float:
    """Return the smaller of two numbers; nan if either is nan."""
    return x if x <= y or x != x else y


# --- Division and powers ------------------------------------------------------------------------


@elementary
def div(x: float, y: float) -> float:
    """Return `x / y`, with the signed infinity or nan of IEEE 754 where `y` is zero."""
    try:
        return x / y
    except ZeroDivisionError:
        if x == 0.0 or x != x:
            return math.nan
        return math.copysign(math.inf, x) * math.copysign(1.0, y)
    except OverflowError:
        return _as_float(x) / _as_float(y)


@elementary
def pow(x: float, y: float) -> float:
    """Return `x` to the power `y`: nan for a negative base with a fractional exponent."""
    if isinstance(x, int) and isinstance(y, int) and 0 <= y * x.bit_length() < MOST_BITS:
        return int(x**y)  # whole numbers stay exact
    x, y = _as_float(x), _as_float(y)
    odd = y == y and not math.isinf(y) and math.fmod(y, 2.0) in (1.0, -1.0)
    try:
        return math.pow(x, y)
    except ValueError:  # a pole at zero, or a negative base with a fractional exponent
        return math.copysign(math.inf, x if odd else 1.0) if x == 0.0 else math.nan
    except OverflowError:
        return -math.inf if x < 0.0 and odd else math.inf


@elementary
def floor_divide(x: float, y: float) -> float:
    """Return the largest whole number not above `x / y`, exactly; that of `div` where `y` is 0."""
    try:
        return x // y
    except ZeroDivisionError:
        return div(x, y)
    except OverflowError:
        return _as_float(x) // _as_float(y)


@elementary
def fmod(x: float, y: float) -> float:
    """Return the remainder of `x / y` rounded towards 0, with the sign of `x`; nan if `y` is 0."""
    if isinstance(x, int) and isinstance(y, int) and y != 0:
        rest = abs(x) % abs(y)
        return -rest if x < 0 else rest
    try:
        return math.fmod(_as_float(x), _as_float(y))
    except ValueError:
        return math.nan


@elementary
@ieee_754()
def sqrt(x: float) -> float:
    """Return the square root: nan below zero."""
    return math.sqrt(x)


# --- Exponentials and logarithms ----------------------------------------------------------------


@elementary
@ieee_754()
def exp(x: float) -> float:
    """Return e to the power `x`; infinity from about 709.8 on."""
    return math.exp(x)


@elementary
@ieee_754()
def exp2(x: float) -> float:
    """Return 2 to the power `x`; infinity from 1024 on."""
    return math.exp2(x)


@elementary
@ieee_754()
def expm1(x: float) -> float:
    """Return e to the power `x`, minus 1, exact for small `x` too."""
    return math.expm1(x)


@elementary
@ieee_754(poles={0.0: -math.inf})
def log(x: float) -> float:
    """Return the natural logarithm: -inf at zero, nan below."""
    return math.log(x)


@elementary
@ieee_754(poles={0.0: -math.inf})
def log2(x: float) -> float:
    """Return the logarithm to base 2: -inf at zero, nan below."""
    return math.log2(x)


@elementary
@ieee_754(poles={0.0: -math.inf})
def log10(x: float) -> float:
    """Return the logarithm to base 10: -inf at zero, nan below."""
    return math.log10(x)


@elementary
@ieee_754(poles={-1.0: -math.inf})
def log1p(x: float) -> float:
    """Return the natural logarithm of `1 + x`, exact for small `x` too: -inf at -1, nan below."""
    return math.log1p(x)


# --- Trigonometric functions --------------------------------------------------------------------


@elementary
@ieee_754()
def sin(x: float) -> float:
    """Return the sine of an angle in radians: nan at the infinities."""
    return math.sin(x)


@elementary
@ieee_754()
def cos(x: float) -> float:
    """Return the cosine of an angle in radians: nan at the infinities."""
    return math.cos(x)


@elementary
@ieee_754()
def tan(x: float) -> float:
    """Return the tangent of an angle in radians: nan at the infinities."""
    return math.tan(x)


@elementary
@ieee_754()
def asin(x: float) -> float:
    """Return the angle in radians, from -pi/2 to pi/2, whose sine is `x`: nan beyond -1 and 1."""
    return math.asin(x)


@elementary
@ieee_754()
def acos(x: float) -> float:
    """Return the angle in radians, from 0 to pi, whose cosine is `x`: nan beyond -1 and 1."""
    return math.acos(x)


@elementary
@ieee_754()
def atan(x: float) -> float:
    """Return the angle in radians, from -pi/2 to pi/2, whose tangent is `x`."""
    return math.atan(x)


@elementary
def atan2(y: float, x: float) -> float:
    """Return the angle in radians, from -pi to pi, of the point `(x, y)`; zeros keep their sign."""
    return math.atan2(_as_float(y), _as_float(x))


@elementary
def hypot(x: float, y: float) -> float:
    """Return the distance of the point `(x, y)` from the origin, also where squares overflow."""
    return math.hypot(_as_float(x), _as_float(y))


# --- Hyperbolic functions -----------------------------------------------------------------------


@elementary
def sinh(x: float) -> float:
    """Return the hyperbolic sine; an infinity beyond about 710.5."""
    try:
        return math.sinh(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


@elementary
@ieee_754()
def cosh(x: float) -> float:
    """Return the hyperbolic cosine; infinity beyond about 710.5."""
    return math.cosh(x)


@elementary
@ieee_754()
def tanh(x: float) -> float:
    """Return the hyperbolic tangent."""
    return math.tanh(x)


@elementary
@ieee_754()
def asinh(x: float) -> float:
    """Return the number whose hyperbolic sine is `x`."""
    return math.asinh(x)


@elementary
@ieee_754()
def acosh(x: float) -> float:
    """Return the number, not negative, whose hyperbolic cosine is `x`: nan below 1."""
    return math.acosh(x)


@elementary
@ieee_754(poles={-1.0: -math.inf, 1.0: math.inf})
def atanh(x: float) -> float:
    """Return the number whose hyperbolic tangent is `x`: infinite at -1 and 1, nan beyond."""
    return math.atanh(x)


# --- The error functions ------------------------------------------------------------------------


@elementary
@ieee_754()
def erf(x: float) -> float:
    """Return the error function, the integral of `2 / sqrt(pi) exp(-t t)` from 0 to `x`."""
    return math.erf(x)


@elementary
@ieee_754()
def erfc(x: float) -> float:
    """Return `1 - erf(x)`, exact also where `erf(x)` is almost 1."""
    return math.erfc(x)


# --- Rounding -----------------------------------------------------------------------------------

ROUNDING = ("floor", "ceil", "trunc", "round")
"""The functions that yield whole numbers, and leave whole numbers as they are."""


def _whole(rounded: Callable[[float], int], x: float) -> float:
    """Return `x` rounded with its sign; what is whole already, infinite or nan stays."""
    if isinstance(x, int) or not math.isfinite(x):
        return x
    return math.copysign(rounded(x), x)


@elementary
def floor(x: float) -> float:
    """Return the largest whole number that is not above `x`; infinities and nan stay."""
    return _whole(math.floor, x)


@elementary
def ceil(x: float) -> float:
    """Return the smallest whole number that is not below `x`; infinities and nan stay."""
    return _whole(math.ceil, x)


@elementary
def trunc(x: float) -> float:
    """Return `x` without its fraction; infinities and nan stay."""
    return _whole(math.trunc, x)


@elementary
def round(x: float) -> float:
    """Return the whole number nearest to `x`, of two the even one; infinities and nan stay."""
    return _whole(builtins.round, x)


# --- Whole numbers ------------------------------------------------------------------------------

BITS = 64
"""How many bits a shift counts with: so many places, or a negative number, shift everything out."""


@elementary
def bitwise_and(x: int, y: int) -> int:
    """Return the bits that both have."""
    return x & y


@elementary
def bitwise_or(x: int, y: int) -> int:
    """Return the bits that either has."""
    return x | y


@elementary
def bitwise_xor(x: int, y: int) -> int:
    """Return the bits that exactly one has."""
    return x ^ y


@elementary
def bitwise_not(x: int) -> int:
    """Return the bits that `x` lacks: `-x - 1`."""
    return x ^ -1


@elementary
def bitwise_left_shift(x: int, y: int) -> int:
    """Return the bits moved up by `y` places; 0 where all are shifted out."""
    return x << y if 0 <= y < BITS else 0


@elementary
def bitwise_right_shift(x: int, y: int) -> int:
    """Return the bits moved down by `y` places; 0 or, below zero, -1 where all are shifted out."""
    return x >> (y if 0 <= y < BITS else BITS)


@elementary
def gcd(x: int, y: int) -> int:
    """Return the greatest common divisor, not negative."""
    return math.gcd(x, y)
