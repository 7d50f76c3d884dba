"""Division that is rounded, and common divisors and multiples.

On integers all of it is exact. Division of an integer by zero is an error, since no integer could
be the result; among floats it follows IEEE 754.
"""

from __future__ import annotations

from typing import Any, Literal

from mt_operators import Operator
from mt_operators.core.elementary import div as quotient
from mt_operators.core.row import zero
from mt_operators.functions import trunc
from mt_tensor.checks import check_choice, validate_call
from mt_tensor.core.dtypes import Number
from mt_tensor.core.elementwise import ElementwiseOperation, elementwise
from mt_tensor.core.errors import DivisionByZeroError, DTypeError
from mt_tensor.core.extensions import extends
from mt_tensor.core.rows import FUNCTIONS
from mt_tensor.core.tensor import Tensor

RoundingMode = Literal["trunc", "floor"] | None


# --- What has no integer as result ---------------------------------------------------------------


@extends("check of integers")
def check_integers(x: Tensor, name: str, given: Any, other: Tensor) -> None:
    """Raise if the operator `name` of integers would have no integer as result.

    Args:
        x: the first argument.
        name: of an operator that is not `closed`.
        given: the second argument as it was given.
        other: the same as a tensor like the first.

    Raises:
        DTypeError: an exponent is negative or does not fit.
        DivisionByZeroError: a divisor is zero.
    """
    number = isinstance(given, Number)
    if name == "pow":
        if number:
            x.dtype.checked(given)
        lowest = given if number else given._numbers().min(initial=0)
        if lowest < 0:
            raise DTypeError(
                f"an integer tensor cannot be raised to the negative integer {int(lowest)}: "
                "convert it first, as in x.float() ** -1."
            )
    elif x.numel() and not other._numbers().all():
        raise DivisionByZeroError(
            "an integer tensor cannot be divided by zero: there is no integer infinity or nan. "
            "Convert it first, as in x.float() // y, or replace the zeros."
        )


# --- Division -----------------------------------------------------------------------------------


def div(input: Any, other: Any, *, rounding_mode: RoundingMode = None) -> Tensor:
    """Return `input / other`, element by element.

    Args:
        input: a tensor.
        other: a tensor or a number; both are broadcast and promoted.
        rounding_mode: None for the true quotient, which is floating-point; "trunc" to drop its
            fraction, "floor" to round it down, which keep integers integers. A rounded quotient
            has gradient 0.

    Raises:
        DivisionByZeroError: integers are to be rounded, and a divisor is zero.
        DTypeError: truth values are to be rounded.
        DomainError: there is no such rounding mode.
    """
    if rounding_mode is None:
        return FUNCTIONS["div"](input, other)
    if rounding_mode == "floor":
        return FUNCTIONS["floor_divide"](input, other)
    check_choice("rounding_mode", rounding_mode, (None, "trunc", "floor"))
    rest = FUNCTIONS["fmod"](input, other)  # checks the arguments, too
    if rest.is_floating_point():
        return _TRUNCATED(input, other)
    multiple = elementwise("sub", input, rest)  # of other, and nearer to zero
    return elementwise("floor_divide", multiple, other)


divide = div


_TRUNCATED = ElementwiseOperation(
    Operator(
        "div_trunc", lambda x, y: trunc(quotient(x, y)), (zero, zero), result="real", selects=True
    )
)


def true_divide(input: Any, other: Any) -> Tensor:
    """Return `input / other`, by torch's older name."""
    return div(input, other)


# --- Divisors and multiples ---------------------------------------------------------------------


@validate_call
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Return the greatest common divisor of integers, not negative.

    Raises:
        DTypeError: an argument is floating-point, or both are bool.
    """
    return elementwise("gcd", input, other)


@validate_call
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Return the least common multiple of integers, not negative; 0 if either is 0.

    Raises:
        DTypeError: an argument is floating-point, or both are bool.
    """
    return elementwise("lcm", input, other)


def __divmod__(self: Tensor, other: Any) -> tuple[Tensor, Tensor]:
    return self // other, self % other


def __rdivmod__(self: Tensor, other: Any) -> tuple[Tensor, Tensor]:
    return other // self, other % self
