"""Compare tensors: within tolerances, for equality, and with the infinities."""

from __future__ import annotations

import math
from typing import Any

from mt_tensor.checks import check_same_dtype, validate_call
from mt_tensor.core.dtypes import as_number, get_default_dtype, promote_types
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError


@validate_call
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Return whether `|input - other| <= atol + rtol * |other|` or the two are equal, as bool.

    Args:
        input: any shape.
        other: a tensor of the same dtype that broadcasts with `input`.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether nan is close to nan.

    Raises:
        DTypeError: the dtypes differ.
        DomainError: a tolerance is negative or nan.
        IndexingError: the shapes do not broadcast.
    """
    check_same_dtype("isclose", input, other)
    rtol, atol = as_number("isclose(): rtol", rtol), as_number("isclose(): atol", atol)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise DomainError(
                f"isclose(): {name} must not be negative or nan; {tolerance!r} was given."
            )
    x, y = input.detach(), other.detach()
    close = x == y
    if equal_nan:
        close = close | (x.isnan() & y.isnan())
    if not x.is_floating_point():
        x, y = x.to(get_default_dtype()), y.to(get_default_dtype())
    error = elementwise("abs", x - y)
    return close | (error.isfinite() & (error <= elementwise("abs", y * rtol) + atol))


@validate_call
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements are close; arguments and errors as for `isclose`."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    msg: str | None = None,
) -> None:
    """Raise AssertionError unless two tensors, numbers or arrays are close.

    Args:
        actual: the result to check.
        expected: the expected value, of the same shape.
        rtol: the relative tolerance. By default both depend on the dtype, as in torch: `rtol` and
            `atol` are 1e-3 and 1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16, 1.3e-6 and 1e-5 for
            float32, 1e-7 and 1e-7 for float64, and 0 for other dtypes.
        atol: the absolute tolerance.
        equal_nan: whether nan is close to nan.
        check_dtype: whether the dtypes must be the same too.
        msg: a message that replaces that of the error.

    Raises:
        AssertionError: the shapes, dtypes or values differ; for values, the message gives the
            number of elements that differ and the largest error.
        TypeError: only one of the tolerances was given.
    """
    from mt_tensor.exchange.conversion import as_tensor

    x, y = as_tensor(actual).detach(), as_tensor(expected).detach()
    if (rtol is None) != (atol is None):
        raise TypeError("assert_close() takes both rtol= and atol=, or neither.")
    if x.shape != y.shape:
        raise AssertionError(msg or f"shapes differ: {x.shape} and {y.shape}.")
    if check_dtype and x.dtype is not y.dtype:
        raise AssertionError(msg or f"dtypes differ: {x.dtype.name} and {y.dtype.name}.")
    kind = promote_types(x.dtype, y.dtype)
    if rtol is None or atol is None:
        rtol, atol = _TOLERANCES.get(kind.name, (0.0, 0.0))
    near = isclose(x.to(kind), y.to(kind), rtol, atol, equal_nan)
    if not near.all():
        errors = elementwise("abs", x.double() - y.double())[near.logical_not()]
        raise AssertionError(
            msg
            or f"{errors.numel()} of {x.numel()} elements differ, by up to "
            f"{errors.max().item():.6g} (allowed: {atol:.6g}, and {rtol:.6g} of the expected "
            "value)."
        )


_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
}
"""The default relative and absolute tolerances by dtype, as in torch."""


@validate_call
def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and equal elements; nan equals nothing."""
    return input.shape == other.shape and bool((input == other).all())


@validate_call
def isposinf(input: Tensor) -> Tensor:
    """Return which elements are infinity, as bool."""
    return input == math.inf


@validate_call
def isneginf(input: Tensor) -> Tensor:
    """Return which elements are -infinity, as bool."""
    return input == -math.inf
