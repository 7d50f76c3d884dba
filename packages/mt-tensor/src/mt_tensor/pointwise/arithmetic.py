"""Python's operators on tensors, and a method for every row of the operator table."""

from __future__ import annotations

from typing import Any

from mt_operators import OPERATORS, Operator
from mt_tensor.dtypes import DType, Number
from mt_tensor.errors import ShapeError
from mt_tensor.pointwise.direct import method as row_method
from mt_tensor.pointwise.direct import reflected
from mt_tensor.pointwise.elementwise import elementwise
from mt_tensor.public import method
from mt_tensor.recording.function import require_tensors
from mt_tensor.tensor import Tensor


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


BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
"""Python's operators that ask the right side, too, without underscores, and their rows."""

OTHERS = {"invert": "bitwise_not", "neg": "neg", "abs": "abs"} | {
    name: name for name in ("lt", "le", "gt", "ge", "eq", "ne")
}
"""Python's other operators."""

for _name, _row in (BINARY | OTHERS).items():
    method(f"__{_name}__")(row_method(OPERATORS[_row], left_to_others=True))
for _name, _row in BINARY.items():
    method(f"__r{_name}__")(reflected(OPERATORS[_row]))


@method
def __pos__(self: Tensor) -> Tensor:
    return self


@method
def __bool__(self: Tensor) -> bool:
    if self.numel() != 1:
        raise ShapeError(
            f"the truth of a tensor of shape {self.shape} is not defined: use x.any() or x.all()."
        )
    return bool(self.item())


@method
def __float__(self: Tensor) -> float:
    return float(self.item())


@method
def __int__(self: Tensor) -> int:
    return int(self.item())


@method
def __index__(self: Tensor) -> int:
    if self.dtype.kind == "float" or self.numel() != 1:
        raise TypeError(
            f"a tensor of {self.dtype.name} and shape {self.shape} cannot be used as an index: "
            "that takes a single integer."
        )
    return int(self.item())


@method
def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """Return this tensor where the condition holds, and `other` elsewhere; see `where`."""
    require_tensors("where", condition)
    return elementwise("where", condition, self, other)


@method
def masked_fill(self: Tensor, mask: Tensor, value: Number | Tensor) -> Tensor:
    """Return a copy in which the elements under the mask are `value`, a number or a 0-D tensor.

    Raises:
        DTypeError: the number is out of the range of the dtype.
        ShapeError: `value` is a tensor with dimensions.
        TypeError: the mask is no tensor, or `value` no number.
    """
    require_tensors("masked_fill", mask)
    filling = single("masked_fill", value, self.dtype)
    return elementwise("where", mask, filling, self).to(self.dtype)


def _install(operator: Operator) -> None:
    """Make a row of the operator table a method, unless there is another of its name."""
    for name in (operator.name, *operator.aliases):
        if not _is_taken(name):
            method(name)(row_method(operator))


def _is_taken(name: str) -> bool:
    """Whether tensors use a name for something else."""
    there = vars(Tensor).get(name)
    return there is not None and getattr(there, "module", None) != __name__


OPERATORS.for_each(_install, taken=_is_taken)
