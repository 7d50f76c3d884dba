"""Select between elements with a condition or mask: operations based on the row `where`."""

from __future__ import annotations

from typing import Any

from mt_tensor.checks import check_mask, validate_call
from mt_tensor.core.dtypes import DType, Number, as_number
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import ShapeError


def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Return this tensor where `condition` is True, `other` elsewhere; see `mt_tensor.where`."""
    require_tensors("where", condition)
    return elementwise("where", condition, self, other)


@validate_call
def masked_fill(input: Tensor, mask: Tensor, value: Number | Tensor) -> Tensor:
    """Return a copy with `value`, a number or a 0-D tensor, where the mask is True.

    Raises:
        DTypeError: the mask is not bool, or `value` is out of the range of the dtype.
        IndexingError: the shapes do not broadcast.
        ShapeError: `value` is a tensor with dimensions.
        TypeError: the mask is not a tensor, or `value` is neither a number nor a tensor.
    """
    filling = as_scalar("masked_fill", value, input.dtype)
    check_mask("masked_fill", mask)
    return elementwise("where", mask, filling, input).to(input.dtype)


def as_scalar(name: str, value: Any, dtype: DType) -> Number | Tensor:
    """Convert a number or a 0-D tensor to a dtype.

    Raises:
        DTypeError: the value is out of the range of the dtype.
        ShapeError: it is a tensor with dimensions.
        TypeError: it is neither a number nor a tensor.
    """
    if not isinstance(value, Tensor):
        return dtype.checked(as_number(f"{name}(): value", value))
    if value.ndim:
        raise ShapeError(f"{name}() takes a number or a 0-D tensor; shape {value.shape} was given.")
    if dtype.kind == "integer" and value.dtype is not dtype:
        dtype.checked(value.item())
    return value.to(dtype)
