"""Elementwise arithmetic with torch's arguments that the rows of the operator table lack."""

from __future__ import annotations

import builtins
import math
import sys
from typing import Any

from mt_operators import OPERATORS, Operator
from mt_operators.core.elementary import div as quotient
from mt_operators.core.elementary import log, where
from mt_operators.functions import log1p
from mt_tensor.checks import check_same_dtype, validate_call
from mt_tensor.core.arguments import as_integer, check_floating, check_not_bool
from mt_tensor.core.dtypes import (
    DType,
    Number,
    as_number,
    int16,
    int32,
    int64,
    plain,
    result_type,
)
from mt_tensor.core.elementwise import ElementwiseOperation, check_on_bool, elementwise
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.rows import FUNCTIONS, Operand
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, DTypeError
from mt_tensor.limits import finfo, iinfo
from mt_tensor.pointwise.fusing import fuse
from mt_tensor.pointwise.out_argument import store_result
from mt_tensor.recording.functions import Function
from mt_tensor.recording.one_call import as_one_call

LN_2 = math.log(2.0)

# --- Sums and powers ----------------------------------------------------------------------------


def add(input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """Return `input + alpha * other`, in `out` if that is given.

    Raises:
        DTypeError: `alpha` is a float, but the operands are integers or bool; or `alpha` is a bool,
            but the operands are not.
        IndexingError: the shapes do not broadcast.
    """
    if out is not None:
        return store_result("add", add, (input, other), {"alpha": alpha, "out": out})  # type: ignore[no-any-return]
    return sum_with("add", input, other, "add(): alpha", alpha)


def sub(input: Operand, other: Operand, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """Return `input - alpha * other`, in `out` if that is given.

    Raises:
        DTypeError: the operands are bool, or as for `add`.
        IndexingError: the shapes do not broadcast.
    """
    if out is not None:
        return store_result("sub", sub, (input, other), {"alpha": alpha, "out": out})  # type: ignore[no-any-return]
    return sum_with("sub", input, other, "sub(): alpha", alpha)


subtract = sub


def sum_with(name: str, input: Operand, other: Operand, label: str, factor: Any) -> Tensor:
    """Return `input + factor * other` or `input - factor * other`, in their promoted dtype.

    Args:
        name: "add" or "sub".
        input: the first operand.
        other: the second operand.
        label: the function and argument that gave the factor, for error messages.
        factor: a number.
    """
    if type(factor) is int and factor == 1:
        return FUNCTIONS[name](input, other)
    dtype = result_type(input, other)
    if dtype.is_narrow:
        factor = _checked_alpha(label, factor, dtype)
        return _plus_scaled(input, other, factor if name == "add" else -factor)  # type: ignore[no-any-return]
    return FUNCTIONS[name](input, scaled(name, other, label, factor, dtype))


@fuse
def _plus_scaled(x: Any, y: Any, factor: Number) -> Any:
    return x + y * factor


def scaled(name: str, other: Operand, label: str, factor: Any, dtype: DType) -> Operand:
    """Return `other * factor` in a dtype, for the operator `name`."""
    factor = _checked_alpha(label, factor, dtype)
    check_on_bool(OPERATORS[name], dtype)
    if isinstance(other, Tensor):
        other = other.to(dtype)
    if dtype.kind == "bool":
        return elementwise("logical_and", other, factor)
    return other * factor  # type: ignore[no-any-return]


def _checked_alpha(label: str, factor: Any, dtype: DType) -> Number:
    """Return a number as a factor of a sum, which may be a bool only for bool operands.

    Raises:
        DTypeError: it is a bool or a float, and the dtype is of another category.
        TypeError: it is not a number.
    """
    if isinstance(plain(factor), bool) and dtype.kind != "bool":
        raise DTypeError(
            f"{label}={factor!r} does not fit operands of {dtype.name}: pass an integer or a float."
        )
    return checked_factor(label, factor, dtype)


def checked_factor(label: str, factor: Any, dtype: DType) -> Number:
    """Return a number as a factor of elements of a dtype.

    Raises:
        DTypeError: it is a float, but the dtype is not floating-point.
        TypeError: it is not a number.
    """
    number = as_number(label, factor)
    if isinstance(number, float) and not dtype.is_floating_point:
        raise DTypeError(
            f"{label}={factor!r} does not fit operands of {dtype.name}: pass an integer, or "
            "convert the operands, as in x.float()."
        )
    if dtype.kind == "bool":
        return bool(number)
    return int(number) if isinstance(number, bool) else number


def pow(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return `input ** exponent`; nan for a negative base and a fractional exponent.

    Raises:
        DTypeError: an integer is raised to a negative integer, or the operands are bool.
        IndexingError: the shapes do not broadcast.
    """
    return FUNCTIONS["pow"](input, exponent, out=out)


@validate_call
def square(input: Tensor) -> Tensor:
    """Return `input * input`; int64 for bool."""
    return FUNCTIONS["square"](input.long() if input.dtype.kind == "bool" else input)


def float_power(input: Operand, exponent: Operand) -> Tensor:
    """Return `input ** exponent`, computed in float64.

    Raises:
        TypeError: neither operand is a tensor, or one is neither a tensor nor a number.
    """
    given = {"input": input, "exponent": exponent}
    if not any(isinstance(value, Tensor) for value in given.values()):
        require_tensors("float_power", input)
    base, power = (
        value.double() if isinstance(value, Tensor) else as_number(f"float_power(): {name}", value)
        for name, value in given.items()
    )
    return pow(base, power)


@validate_call
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """Return `input * 2 ** other`."""
    x, y = _promoted(input, other)
    return x * elementwise("exp2", y)


@validate_call
def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """Return `log2(2 ** input + 2 ** other)`."""
    x, y = _promoted(input, other)
    return elementwise("logaddexp", x * LN_2, y * LN_2) / LN_2


def _promoted(*tensors: Tensor) -> list[Tensor]:
    """Convert tensors to their promoted dtype."""
    dtype = result_type(*tensors)
    return [tensor.to(dtype) for tensor in tensors]


@validate_call
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """Return `input + value * tensor1 * tensor2`.

    Raises:
        DTypeError: `value` is a float, but the tensors are integers; or all tensors are bool.
        IndexingError: the shapes do not broadcast.
    """
    check_not_bool("addcmul", result_type(input, tensor1, tensor2))
    x, y, z = _promoted(input, tensor1, tensor2)
    factor = checked_factor("addcmul(): value", value, x.dtype)
    if not x.is_floating_point():
        return sum_with("add", x, y * z, "addcmul(): value", factor)
    return _plus_scaled_product(x, y, z, factor)


@fuse
def _plus_scaled_product(x: Tensor, y: Tensor, z: Tensor, factor: Number) -> Tensor:
    return x + y * z * factor


@validate_call
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """Return `input + value * tensor1 / tensor2`.

    Raises:
        DTypeError: `tensor1` and `tensor2` are both integers or bool, as in torch.
        IndexingError: the shapes do not broadcast.
    """
    check_floating("addcdiv", result_type(tensor1, tensor2))
    x, y, z = _promoted(input, tensor1, tensor2)
    return _plus_scaled_quotient(x, y, z, checked_factor("addcdiv(): value", value, x.dtype))


@fuse
def _plus_scaled_quotient(x: Tensor, y: Tensor, z: Tensor, factor: Number) -> Tensor:
    return x + y / z * factor


@validate_call
def lerp(input: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """Return the linear interpolation `input + weight * (end - input)`.

    Raises:
        DTypeError: the tensors are not floating-point, or their dtypes differ.
        IndexingError: the shapes do not broadcast.
    """
    weights = [weight] if isinstance(weight, Tensor) and weight.ndim else []
    check_same_dtype("lerp", input, end, *weights)
    check_floating("lerp", input)
    return elementwise("lerp", input, end, weight)


@validate_call
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Round to a number of decimals, half to even; the gradient is 0.

    Args:
        input: any shape.
        decimals: the number of decimals; negative to round to tens, hundreds, and so on.

    Raises:
        TypeError: `decimals` is not an integer.
        DomainError: `10.0 ** decimals` overflows.
        DTypeError: `input` is not floating-point and `decimals` is not 0, or `input` is bool.
    """
    decimals = as_integer("round(): decimals", decimals)
    if decimals == 0:
        return FUNCTIONS["round"](input)
    if not input.is_floating_point():
        raise DTypeError(
            f"round() of {input.dtype.name} takes decimals=0; convert first, as in x.float()."
        )
    if abs(decimals) > sys.float_info.max_10_exp:
        raise DomainError(f"round() takes decimals from -308 to 308; {decimals} was given.")
    power = 10.0 ** abs(decimals)
    return _round_to_multiple(input, power) if decimals < 0 else _round_to_part(input, power)


@fuse
def _round_to_multiple(x: Tensor, power: Number) -> Tensor:
    return elementwise("round", x / power) * power


@fuse
def _round_to_part(x: Tensor, power: Number) -> Tensor:
    return elementwise("round", x * power) / power


# --- Bounds -------------------------------------------------------------------------------------


@validate_call
def clamp(input: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    """Clamp `input` between two bounds; `max` where `min` is greater than `max`.

    Args:
        input: any shape.
        min: the lower bound, a number or a tensor that broadcasts; None for none.
        max: the upper bound, like `min`.

    Returns:
        A tensor of the broadcast shape. The gradient with respect to `input` is 1 at the bounds
        too.

    Raises:
        DomainError: both bounds are None.
        DTypeError: an integer bound excludes all values of the dtype; or all arguments are bool,
            unless a tensor is the only bound.
        IndexingError: the shapes do not broadcast.
    """
    if min is None and max is None:
        raise DomainError("clamp() needs min, max or both; neither was given.")
    low, high = _bound(input, min, lower=True), _bound(input, max, lower=False)
    if high is None:
        return FUNCTIONS["clamp_min"](input, low)
    if low is None:
        return FUNCTIONS["clamp_max"](input, high)
    return elementwise("clamp", input, low, high)


clip = clamp


@validate_call
def clamp_min(input: Tensor, min: Operand) -> Tensor:
    """Return the elementwise maximum of `input` and `min`; see `clamp`."""
    return clamp(input, min)


@validate_call
def clamp_max(input: Tensor, max: Operand) -> Tensor:
    """Return the elementwise minimum of `input` and `max`; see `clamp`."""
    return clamp(input, None, max)


def _bound(x: Tensor, bound: Any, lower: bool) -> Any:
    """Return a bound for the elements of `x`; for integers, moved into the range of their dtype."""
    bound, dtype = plain(bound), x.dtype
    if isinstance(bound, bool):
        check_not_bool("clamp", x)
    if dtype.kind != "integer" or not isinstance(bound, int):
        return bound
    nearest = builtins.max(bound, dtype.lowest) if lower else builtins.min(bound, dtype.highest)
    return dtype.checked(nearest)


@validate_call
def fmax(input: Tensor, other: Tensor) -> Tensor:
    """Return the elementwise maximum, ignoring nan; where equal, `input` gets the gradient."""
    return elementwise("where", (input >= other) | other.isnan(), input, other)


@validate_call
def fmin(input: Tensor, other: Tensor) -> Tensor:
    """Return the elementwise minimum, ignoring nan; where equal, `input` gets the gradient."""
    return elementwise("where", (input <= other) | other.isnan(), input, other)


@validate_call
def nan_to_num(
    input: Tensor,
    nan: Number | None = None,
    posinf: Number | None = None,
    neginf: Number | None = None,
) -> Tensor:
    """Replace nan and the infinities by numbers; integers are copied.

    Args:
        input: any shape.
        nan: the replacement for nan; 0 if None.
        posinf: the replacement for infinity; the largest number of the dtype if None.
        neginf: the replacement for -infinity; the lowest number of the dtype if None.
    """
    if not input.is_floating_point():
        return input.clone()
    limits = finfo(input.dtype)
    replaced = input.masked_fill(input.isnan(), 0 if nan is None else nan)
    replaced = replaced.masked_fill(input == math.inf, limits.max if posinf is None else posinf)
    return replaced.masked_fill(input == -math.inf, limits.min if neginf is None else neginf)


# --- Fractions, signs, angles and log-odds ------------------------------------------------------


@validate_call
def frac(input: Tensor) -> Tensor:
    """Return the fractional part, `input - trunc(input)`.

    Raises:
        DTypeError: `input` is not floating-point.
    """
    check_floating("frac", input)
    return input - elementwise("trunc", input)


@validate_call
def positive(input: Tensor) -> Tensor:
    """Return `input` itself.

    Raises:
        DTypeError: `input` is bool.
    """
    check_not_bool("positive", input)
    return input


@validate_call
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """Return 0 for negative elements and nan, 1 for positive ones, and `values` for zero.

    Raises:
        DTypeError: the dtypes differ.
        IndexingError: the shapes do not broadcast.
    """
    check_same_dtype("heaviside", input, values)
    return elementwise("where", input == 0, values, (input > 0).to(input.dtype))


_BITS = {2: int16, 4: int32, 8: int64}
"""The dtype for the bits of a floating-point number, by its size in bytes."""


@as_one_call  # since programs cannot track memory that is viewed as another dtype
def _next_numbers(x: Tensor, y: Tensor) -> Tensor:
    """Return the number after x, towards y, for tensors of one shape and dtype."""
    dtype = _BITS[x.dtype.itemsize]
    bits = x.view(dtype)
    outwards = elementwise("eq", x > 0, y > x)
    stepped = elementwise("where", outwards, bits + 1, bits - 1)
    zero, smallest = x == 0, iinfo(dtype).min
    stepped = elementwise("where", zero, smallest + 1, stepped)  # the largest negative number
    stepped = elementwise("where", elementwise("logical_and", zero, y > 0), 1, stepped)
    stepped = elementwise("where", x == y, y.view(dtype), stepped)
    missing = elementwise("logical_or", x != x, y != y)  # nan
    return elementwise("where", missing, (x + y).view(dtype), stepped).view(x.dtype)


class NextAfter(Function):
    """Compute the next number, by adding 1 to the bits or subtracting it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        """Return the number after x, towards y, for tensors of one shape and dtype."""
        ctx.save_for_backward(x, y)
        return _next_numbers(x, y)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        """Return the gradient for x where x and y differ, and zeros for y, as torch does."""
        x, y = ctx.saved_tensors
        return elementwise("where", x != y, grad, 0.0), grad._full(grad.shape, 0)


@validate_call
def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """Return the next representable number after each element of `input`, towards `other`.

    Where both are equal, the result is `other`, and the gradient is zero. Elsewhere `input` gets
    the upstream gradient, as in torch.

    Args:
        input: a floating-point tensor.
        other: a tensor that broadcasts with `input`; the dtypes are promoted.

    Raises:
        DTypeError: the promoted dtype is not floating-point.
        IndexingError: the shapes do not broadcast.
        ExchangeError: the backend cannot view memory as another dtype.
    """
    check_floating("nextafter", result_type(input, other))
    shape = shape_broadcast(input.shape, other.shape)
    common_backend(input, other)
    return NextAfter.apply(*(x.expand(shape) for x in _promoted(input, other)))


@validate_call
def deg2rad(input: Tensor) -> Tensor:
    """Return angles in radians from angles in degrees."""
    return input * (math.pi / 180.0)


@validate_call
def rad2deg(input: Tensor) -> Tensor:
    """Return angles in degrees from angles in radians."""
    return input * (180.0 / math.pi)


@validate_call
def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """Return `log(input / (1 - input))`, the inverse of `sigmoid`.

    Args:
        input: any shape. The result is nan below 0 and above 1.
        eps: if given, clamp `input` to [eps, 1 - eps] first; `eps` wins where the bounds cross.
    """
    x = input
    if eps is not None:
        eps = float(as_number("logit(): eps", eps))
        high = elementwise("where", x > 1.0 - eps, 1.0 - eps, x)
        x = elementwise("where", x < eps, eps, high)
    return _LOG_ODDS(x)


_LOG_ODDS = ElementwiseOperation(
    Operator(
        "logit",
        lambda x: log(x) - log1p(-x),
        # The formula has finite values outside (0, 1), where the function is nan.
        (lambda x, out: where(out == out, quotient(1.0, x * (1.0 - x)), math.nan),),
        result="real",
    )
)
