"""Elementary functions, from which the operator table is built.

On floats they follow IEEE 754: where `math.log(-1.0)`, `math.exp(1000.0)` and `1.0 / 0.0` raise,
these functions return nan or an infinity, as NumPy, torch and the hardware do.

    >>> log(1.0), log(-1.0), exp(1000.0), div(1.0, 0.0)
    (0.0, nan, inf, inf)

On any other type they dispatch to the value's method `__operator__`, as `+` dispatches to
`__add__`: `exp(x)` is `x.__operator__("exp", (x,))`. So a function that uses them also runs on
types of later stages: scalars that record computations, tensors, and symbols, which represent
unknown numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

ELEMENTARY: dict[str, Callable[..., Any]] = {}
"""Every elementary function by name. A backend must implement each of them."""

ROUNDING = ("floor", "ceil", "trunc", "round")
"""The elementary functions that round to an integer; they return integers unchanged."""


def dispatch(name: str, operands: tuple[Any, ...]) -> Any:
    """Call `__operator__` of the first operand that has it, or return NotImplemented."""
    for operand in operands:
        if operand.__class__ is not float:
            method = getattr(operand, "__operator__", None)
            if method is not None:
                return method(name, operands)
    return NotImplemented


def dispatched(function: F) -> F:
    """Decorate a function of floats to dispatch to `__operator__` on every other type.

    The attribute `definition` is the undecorated function, which `tracing.py` runs on symbols.
    """
    name = function.__name__

    @wraps(function)
    def call(*operands: Any) -> Any:
        result = dispatch(name, operands)
        return function(*operands) if result is NotImplemented else result

    call.definition = function  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def definition(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function inside `dispatched`, or an elementary or plain function itself."""
    inner: Callable[..., Any] = getattr(function, "definition", function)
    return inner


def elementary(function: F) -> F:
    """Decorate a function as `dispatched`, and register it in `ELEMENTARY`."""
    call = ELEMENTARY[function.__name__] = dispatched(function)
    call.definition = call  # type: ignore[attr-defined]  # has no simpler definition
    return call


def from_math(
    function: Callable[[float], float],
    summary: str,
    poles: Mapping[float, float] = MappingProxyType({}),
) -> Callable[[float], float]:
    """Register a function of `math` as elementary, with IEEE 754's values instead of errors.

    Where `math` raises, the value is the given infinity at a pole, inf on overflow, else nan.
    """

    def total(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return poles.get(x, math.nan)
        except OverflowError:  # the result, or an integer beyond the range of floats
            return total(as_float(x)) if isinstance(x, int) else math.inf

    total.__name__ = total.__qualname__ = function.__name__
    total.__doc__ = summary
    return elementary(total)


def as_float(x: float | int) -> float:
    """Convert to float; an integer beyond the range of floats becomes an infinity."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


# --- Functions of one number ----------------------------------------------------------------------

sqrt = from_math(math.sqrt, "Return the square root; nan below 0.")
exp = from_math(math.exp, "Return e to the power `x`; infinity above about 709.8.")
log = from_math(math.log, "Return the natural logarithm; -inf at 0, nan below 0.", {0.0: -math.inf})
sin = from_math(math.sin, "Return the sine of an angle in radians; nan at the infinities.")
cos = from_math(math.cos, "Return the cosine of an angle in radians; nan at the infinities.")
tanh = from_math(math.tanh, "Return the hyperbolic tangent.")

# --- Functions of two and three numbers -----------------------------------------------------------


@elementary
def where(condition: bool, if_true: float, if_false: float) -> float:
    """Return `if_true` where the condition holds, else `if_false`. Both are evaluated."""
    return if_true if condition else if_false


@elementary
def maximum(x: float, y: float) -> float:
    """Return the larger number; nan if either is nan."""
    return x if x >= y or x != x else y


@elementary
def minimum(x: float, y: float) -> float:
    """Return the smaller number; nan if either is nan."""
    return x if x <= y or x != x else y


@elementary
def div(x: float, y: float) -> float:
    """Return `x / y`; a signed infinity or nan where `y` is zero."""
    try:
        return x / y
    except ZeroDivisionError:
        if x == 0.0 or x != x:
            return math.nan
        return math.copysign(math.inf, x) * math.copysign(1.0, y)
    except OverflowError:
        return as_float(x) / as_float(y)


MAX_BITS = 2**22
"""The number of bits from which powers of integers are computed as floats, not exactly."""


@elementary
def pow(x: float, y: float) -> float:
    """Return `x` to the power `y`; nan for a negative base with a fractional exponent.

    For integers with `y >= 0` the result is exact, up to `MAX_BITS` bits.
    """
    if isinstance(x, int) and isinstance(y, int) and 0 <= y * x.bit_length() < MAX_BITS:
        return int(x**y)  # integers stay exact
    x, y = as_float(x), as_float(y)
    odd = y == y and not math.isinf(y) and math.fmod(y, 2.0) in (1.0, -1.0)
    try:
        return math.pow(x, y)
    except ValueError:  # a pole at zero, or a negative base with a fractional exponent
        return math.copysign(math.inf, x if odd else 1.0) if x == 0.0 else math.nan
    except OverflowError:
        return -math.inf if x < 0.0 and odd else math.inf
