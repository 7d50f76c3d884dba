"""Comparing tensors: how close elements are, whether whole tensors are equal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mt_tensor.arguments import check_flags, check_same_dtype
from mt_tensor.dtypes import as_number, get_default_dtype
from mt_tensor.errors import DomainError
from mt_tensor.pointwise.elementwise import elementwise
from mt_tensor.recording.function import require_tensors

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Return whether `|input - other| <= atol + rtol |other|`, or the two are equal, as bool.

    Args:
        input: any shape.
        other: a tensor of the same dtype that broadcasts.
        rtol: the error allowed relative to `other`.
        atol: the error that is always allowed.
        equal_nan: whether nan is close to nan.

    Raises:
        DTypeError: the dtypes differ.
        DomainError: a tolerance is negative or nan.
        IndexingError: the shapes do not broadcast.
    """
    require_tensors("isclose", input, other)
    check_same_dtype("isclose", input, other)
    check_flags(equal_nan=equal_nan)
    rtol, atol = as_number("rtol", rtol), as_number("atol", atol)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not tolerance >= 0:
            raise DomainError(f"{name} is at least 0; {tolerance!r} was given.")
    x, y = input.detach(), other.detach()
    close = x == y
    if equal_nan:
        close = close | (x.isnan() & y.isnan())
    if not x.is_floating_point():
        x, y = x.to(get_default_dtype()), y.to(get_default_dtype())
    error = elementwise("abs", x - y)
    return close | (error.isfinite() & (error <= elementwise("abs", y * rtol) + atol))


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Return whether all elements are close; arguments and errors are those of `isclose`."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have one shape and equal elements; nan equals nothing."""
    require_tensors("equal", input, other)
    return input.shape == other.shape and bool((input == other).all())


def isposinf(input: Tensor) -> Tensor:
    """Return which elements are infinity, as bool."""
    require_tensors("isposinf", input)
    return input == math.inf


def isneginf(input: Tensor) -> Tensor:
    """Return which elements are -infinity, as bool."""
    require_tensors("isneginf", input)
    return input == -math.inf
