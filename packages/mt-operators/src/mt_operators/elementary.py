"""Elementary functions, spelled for Python floats.

The operator table is written with plain arithmetic, comparisons and the functions of this file.
They are the only part of the mathematics that each stage spells in its own way: here with `math`,
elsewhere with NumPy's ufuncs, compiled polynomials, device functions or recorded nodes.
`mt_operators.lifting` does the exchange.

Python's own functions raise where IEEE 754 has an answer (`1.0 / 0.0`, `math.exp(1000)`,
`math.log(-1)`). All other stages follow IEEE 754, and so do these: a pole gives an infinity and a
point outside the domain gives nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

ELEMENTARY: dict[str, Callable[..., Any]] = {}
"""Every function that a stage must spell, by name."""


def elementary(function: F) -> F:
    """Enter `function` into `ELEMENTARY` under its own name."""
    ELEMENTARY[function.__name__] = function
    return function


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


@elementary
def div(x: float, y: float) -> float:
    """Return `x / y`, with the signed infinity or nan of IEEE 754 where `y` is zero."""
    try:
        return x / y
    except ZeroDivisionError:
        if x == 0.0 or x != x:
            return math.nan
        return math.copysign(math.inf, x) * math.copysign(1.0, y)


@elementary
def pow(x: float, y: float) -> float:
    """Return `x` to the power `y`: nan for a negative base with a fractional exponent."""
    if isinstance(x, int) and isinstance(y, int) and y >= 0:
        return int(x**y)  # whole numbers stay exact
    odd = y == y and not math.isinf(y) and math.fmod(y, 2.0) in (1.0, -1.0)
    try:
        return math.pow(x, y)
    except ValueError:  # a pole at zero, or a negative base with a fractional exponent
        return math.copysign(math.inf, x if odd else 1.0) if x == 0.0 else math.nan
    except OverflowError:
        return -math.inf if x < 0.0 and odd else math.inf


@elementary
def exp(x: float) -> float:
    """Return e to the power `x`; infinity from about 709.8 on."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


@elementary
def log(x: float) -> float:
    """Return the natural logarithm: -inf at zero, nan below."""
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


@elementary
def sqrt(x: float) -> float:
    """Return the square root: nan below zero."""
    return math.sqrt(x) if x >= 0.0 else math.nan


@elementary
def sin(x: float) -> float:
    """Return the sine of an angle in radians: nan at the infinities."""
    return math.nan if math.isinf(x) else math.sin(x)


@elementary
def cos(x: float) -> float:
    """Return the cosine of an angle in radians: nan at the infinities."""
    return math.nan if math.isinf(x) else math.cos(x)


@elementary
def tanh(x: float) -> float:
    """Return the hyperbolic tangent."""
    return math.tanh(x)


@elementary
def floor(x: float) -> float:
    """Return the largest whole number that is not above `x`; infinities and nan stay."""
    if isinstance(x, int) or not math.isfinite(x):
        return x
    whole = float(math.floor(x))
    return x if whole == x else whole
