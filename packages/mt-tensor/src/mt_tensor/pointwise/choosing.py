"""Elements of two tensors, as a condition says: the methods around the row `where`."""

from __future__ import annotations

from typing import Any

from mt_tensor.checks import validate_call
from mt_tensor.core.dtypes import DType, Number
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError


def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Return this tensor where the condition holds, and `other` elsewhere; see `where`."""
    require_tensors("where", condition)
    return elementwise("where", condition, self, other)


@validate_call
def masked_fill(input: Tensor, mask: Tensor, value: Number | Tensor) -> Tensor:
    """Return a copy in which the elements under the mask are `value`, a number or a 0-D tensor.

    Raises:
        DTypeError: the number is out of the range of the dtype.
        ShapeError: `value` is a tensor with dimensions.
        TypeError: the mask is no tensor, or `value` no number.
    """
    filling = single("masked_fill", value, input.dtype)
    return elementwise("where", mask, filling, input).to(input.dtype)


def single(name: str, value: Any, dtype: DType) -> Number | Tensor:
    """Return a number, or a tensor of no dimensions, as an element of a dtype.

    Raises:
        DTypeError: the number, or that of the tensor, is out of the range of the dtype.
        ShapeError: the tensor has dimensions.
        TypeError: it is something else.
    """
    if not isinstance(value, Tensor):
        return dtype.checked(value)
    if value.ndim:
        raise ShapeError(f"{name}() takes a number or a 0-D tensor; shape {value.shape} was given.")
    if dtype.kind == "integer" and value.dtype is not dtype:
        dtype.checked(value.item())
    return value.to(dtype)
