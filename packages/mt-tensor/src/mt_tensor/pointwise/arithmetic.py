"""Python's operators on tensors, and a method for every row of the operator table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_operators import OPERATORS, Operator
from mt_tensor.dtypes import DType, Number
from mt_tensor.errors import ShapeError
from mt_tensor.pointwise.direct import method, reflected
from mt_tensor.pointwise.elementwise import elementwise
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


def _python(name: str) -> Callable[..., Tensor]:
    """Return an operator as Python calls it."""
    return method(OPERATORS[name], left_to_others=True)


def _reflected(name: str) -> Callable[..., Tensor]:
    """Return the same for a number on the left of a tensor."""
    return reflected(OPERATORS[name])


class ArithmeticMethods(Tensor):
    """The element-wise methods of `Tensor`, and its operators."""

    __slots__ = ()

    __add__ = _python("add")
    __radd__ = _reflected("add")
    __sub__ = _python("sub")
    __rsub__ = _reflected("sub")
    __mul__ = _python("mul")
    __rmul__ = _reflected("mul")
    __truediv__ = _python("div")
    __rtruediv__ = _reflected("div")
    __floordiv__ = _python("floor_divide")
    __rfloordiv__ = _reflected("floor_divide")
    __mod__ = _python("remainder")
    __rmod__ = _reflected("remainder")
    __pow__ = _python("pow")
    __rpow__ = _reflected("pow")

    __and__ = _python("bitwise_and")
    __rand__ = _reflected("bitwise_and")
    __or__ = _python("bitwise_or")
    __ror__ = _reflected("bitwise_or")
    __xor__ = _python("bitwise_xor")
    __rxor__ = _reflected("bitwise_xor")
    __lshift__ = _python("bitwise_left_shift")
    __rlshift__ = _reflected("bitwise_left_shift")
    __rshift__ = _python("bitwise_right_shift")
    __rrshift__ = _reflected("bitwise_right_shift")
    __invert__ = method(OPERATORS["bitwise_not"])

    __neg__ = method(OPERATORS["neg"])

    def __pos__(self) -> Tensor:
        return self

    __abs__ = method(OPERATORS["abs"])

    __lt__ = _python("lt")
    __le__ = _python("le")
    __gt__ = _python("gt")
    __ge__ = _python("ge")
    __eq__ = _python("eq")  # type: ignore[assignment]
    __ne__ = _python("ne")  # type: ignore[assignment]
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
        """Return this tensor where the condition holds, and `other` elsewhere; see `where`."""
        require_tensors("where", condition)
        return elementwise("where", condition, self, other)

    def masked_fill(self, mask: Tensor, value: Number | Tensor) -> Tensor:
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
        if name not in ArithmeticMethods.__dict__:
            setattr(Tensor, name, method(operator))


def _is_taken(name: str) -> bool:
    """Whether tensors use a name for something else."""
    return hasattr(Tensor, name)


OPERATORS.for_each(_install, taken=_is_taken)
