"""Python's operators on tensors, and a method for every row of the operator table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mt_operators import OPERATORS, Operator
from mt_tensor.dtypes import Number
from mt_tensor.elementwise import LIFTED, elementwise
from mt_tensor.errors import ShapeError
from mt_tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


def binary(name: str, left: Any, right: Any) -> Tensor:
    """Apply an operator, or leave it to the other operand's type if that is no number."""
    left, right = (v.item() if isinstance(v, np.generic) else v for v in (left, right))
    other = right if isinstance(left, TensorBase) else left
    if not isinstance(other, TensorBase | Number):
        return NotImplemented  # type: ignore[no-any-return]
    return LIFTED[name](left, right)


class ArithmeticMethods(TensorBase):
    """The element-wise methods of `Tensor`, and its operators."""

    __slots__ = ()

    def __add__(self, other: Any) -> Tensor:
        return binary("add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return binary("sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return binary("sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return binary("mul", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return binary("mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return binary("div", other, self)

    def __pow__(self, other: Any) -> Tensor:
        return binary("pow", self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return binary("pow", other, self)

    def __neg__(self) -> Tensor:
        return elementwise("neg", self)

    def __pos__(self) -> Tensor:
        return self._itself()

    def __abs__(self) -> Tensor:
        return elementwise("abs", self)

    def __lt__(self, other: Any) -> Tensor:
        return binary("lt", self, other)

    def __le__(self, other: Any) -> Tensor:
        return binary("le", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return binary("gt", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return binary("ge", self, other)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        return binary("eq", self, other)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return binary("ne", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise ShapeError(
                f"the truth of a tensor of shape {self.shape} is not defined: use x.any() or "
                "x.all()."
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self.dtype.kind == "float" or self.numel() != 1:
            raise TypeError(
                f"a tensor of {self.dtype.name} and shape {self.shape} cannot be used as an index: "
                "that takes a single integer."
            )
        return int(self.item())

    def where(self, condition: Tensor, other: Any) -> Tensor:
        """Return this tensor where the condition holds, and `other` elsewhere."""
        return elementwise("where", condition, self, other)

    def masked_fill(self, mask: Tensor, value: Number) -> Tensor:
        """Return a copy in which the elements under the mask are `value`."""
        return elementwise("where", mask, self.dtype.checked(value), self).to(self.dtype)


def _install(operator: Operator) -> None:
    """Make a row of the operator table a method, unless the class has its own."""
    if operator.name in ArithmeticMethods.__dict__:
        return
    name = operator.name

    def method(self: TensorBase, *others: Any) -> Tensor:
        return LIFTED[name](self, *others)

    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = f"Element by element: {operator.note}."
    setattr(ArithmeticMethods, name, method)


def _is_taken(name: str) -> bool:
    """Whether tensors use a name for something else."""
    return hasattr(TensorBase._result_class, name)


OPERATORS.for_each(_install, taken=_is_taken)
