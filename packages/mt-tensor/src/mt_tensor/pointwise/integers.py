"""Division with rounding, and greatest common divisors and least common multiples.

All are exact on integers. Division of an integer by zero is an error, since no integer can be the
result; on floats it follows IEEE 754.
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
from mt_tensor.pointwise.out_argument import store_result

RoundingMode = Literal["trunc", "floor"] | None


# --- Checks of integer operands -------------------------------------------------------------------


@extends("check of integers")
def check_integers(x: Tensor, name: str, given: Any, other: Tensor) -> None:
    """Raise an error if the result of the operator `name` would not be an integer.

    Args:
        x: the first argument.
        name: an operator that is not `closed` on integers.
        given: the second argument as given by the caller.
        other: the second argument as a tensor of the dtype of `x`.

    Raises:
        DTypeError: an exponent is negative or out of range.
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


def div(
    input: Any, other: Any, *, rounding_mode: RoundingMode = None, out: Tensor | None = None
) -> Tensor:
    """Return `input / other`.

    Args:
        input: a tensor, or a number if `other` is a tensor.
        other: a tensor or a number; both are broadcast and promoted.
        rounding_mode: None for the true quotient, which is floating-point; "trunc" to round it
            towards zero, "floor" to round it down. Rounded quotients of integers are integers.
            The gradient of a rounded quotient is 0.
        out: the tensor to store the result in, or None.

    Raises:
        DivisionByZeroError: the operands are integers, the quotient is rounded and a divisor is
            zero.
        DTypeError: the operands are bool and the quotient is rounded.
        DomainError: `rounding_mode` has another value.
        IndexingError: the shapes do not broadcast.
    """
    if out is not None:
        settings = {"rounding_mode": rounding_mode, "out": out}
        return store_result("div", div, (input, other), settings)  # type: ignore[no-any-return]
    if rounding_mode is None:
        return FUNCTIONS["div"](input, other)
    if rounding_mode == "floor":
        return FUNCTIONS["floor_divide"](input, other)
    check_choice("div", "rounding_mode", rounding_mode, (None, "trunc", "floor"))
    remainder = FUNCTIONS["fmod"](input, other)  # checks the arguments too
    if remainder.is_floating_point():
        return _TRUNCATED(input, other)
    return elementwise("floor_divide", elementwise("sub", input, remainder), other)


divide = div


_TRUNCATED = ElementwiseOperation(
    Operator(
        "div_trunc", lambda x, y: trunc(quotient(x, y)), (zero, zero), result="real", selects=True
    )
)


def true_divide(input: Any, other: Any) -> Tensor:
    """Return `input / other`, as `div` does without rounding."""
    return div(input, other)


# --- Divisors and multiples ---------------------------------------------------------------------


@validate_call
def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Return the greatest common divisor of integers, which is not negative.

    Raises:
        DTypeError: an argument is floating-point, or both are bool.
        IndexingError: the shapes do not broadcast.
    """
    return elementwise("gcd", input, other)


@validate_call
def lcm(input: Tensor, other: Tensor) -> Tensor:
    """Return the least common multiple of integers, which is not negative; 0 if either is 0.

    Raises:
        DTypeError: an argument is floating-point, or both are bool.
        IndexingError: the shapes do not broadcast.
    """
    return elementwise("lcm", input, other)


def __divmod__(self: Tensor, other: Any) -> tuple[Tensor, Tensor]:
    return self // other, self % other


def __rdivmod__(self: Tensor, other: Any) -> tuple[Tensor, Tensor]:
    return other // self, other % self
