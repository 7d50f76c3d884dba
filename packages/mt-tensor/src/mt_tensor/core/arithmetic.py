"""Python's operators on tensors, `x + y` and `2.0 * x`.

They are the functions of the rows, as `rows.py` makes them; with a number on the left Python calls
the method of the tensor on the right. NumPy's arrays are operands as in torch. On the right of a
tensor the operator is NumPy's, with NumPy's promotion, and the result becomes a tensor
(`Tensor.__array_wrap__`); nothing of it is recorded, so a tensor that requires grad refuses it. On
the left of a tensor an array is refused, except as a dividend.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_operators import OPERATORS, Operator
from mt_tensor.core.dtypes import plain
from mt_tensor.core.elementwise import OPERANDS, OPERATIONS
from mt_tensor.core.rows import FUNCTIONS, describe, of_one, of_two, shortened
from mt_tensor.core.tensor import Tensor

_FIX = "make it a tensor first, as in mt_tensor.from_numpy(array)"


def _on_array(self: Tensor, operator: Operator, other: Any) -> Any:
    """Return what this tensor and, on its right, what is neither tensor nor number give.

    Returns:
        A tensor of bool where they are compared for equality; else NotImplemented, after
        which Python asks NumPy.

    Raises:
        TypeError: an array is compared in another way.
    """
    if operator.result != "bool" or not isinstance(other, np.ndarray):
        return NotImplemented
    if operator.name in ("eq", "ne"):
        return OPERATIONS[operator.name](self, self._uploaded(np.array(other)))
    raise TypeError(f"{operator.name}() of a tensor and an array of NumPy is not defined: {_FIX}.")


def _on_array_at_left(self: Tensor, operator: Operator, other: Any) -> Any:
    """Return what this tensor and, on its left, what is neither tensor nor number give.

    Raises:
        TypeError: it is an array, and no dividend.
    """
    if not isinstance(other, np.ndarray):
        return NotImplemented
    if operator.name == "div":
        return np.true_divide(other, self)
    raise _refused(operator.name)


def __rmatmul__(self: Tensor, other: Any) -> Tensor:  # noqa: ARG001 - whatever they are
    raise _refused("matmul")


def _refused(name: str) -> TypeError:
    """Return the error for an array on the left of a tensor."""
    return TypeError(f"{name}() takes no array of NumPy on the left of a tensor: {_FIX}.")


def on_the_left(row: str) -> Callable[[Tensor, Any], Tensor]:
    """Return the method that Python calls on the left operand."""
    return _operator(row)


def on_the_only(row: str) -> Callable[[Tensor], Tensor]:
    """Return the method that Python calls on the operand of an operator that has one."""
    return _operator(row)


def _operator(row: str) -> Callable[..., Any]:
    operation = OPERATIONS[row]

    def otherwise(x: Tensor, *others: Any) -> Any:
        for other in others:
            if not isinstance(plain(other), OPERANDS):
                return _on_array(x, operation.operator, other)
        return operation(x, *others)

    function = (of_one if operation.operator.arity == 1 else of_two)(operation, otherwise)
    if row == "pow":
        function = shortened(function)
    describe(function, operation.operator, __name__)
    return function


def on_the_right(row: str) -> Callable[[Tensor, Any], Tensor]:
    """Return the method that Python calls on the right operand if the left one has none."""
    function, operator = FUNCTIONS[row], OPERATORS[row]

    def reflected(self: Tensor, other: Any) -> Tensor:
        known = isinstance(plain(other), OPERANDS)
        result: Tensor = (
            function(other, self) if known else _on_array_at_left(self, operator, other)
        )
        return result

    return reflected


# The operators with a reflected form, `__radd__` of `2.0 + x`.
__add__, __radd__ = on_the_left("add"), on_the_right("add")
__sub__, __rsub__ = on_the_left("sub"), on_the_right("sub")
__mul__, __rmul__ = on_the_left("mul"), on_the_right("mul")
__truediv__, __rtruediv__ = on_the_left("div"), on_the_right("div")
__pow__, __rpow__ = on_the_left("pow"), on_the_right("pow")

# A comparison has none: Python calls the opposite one, `x > 2.0` for `2.0 < x`.
__lt__ = on_the_left("lt")
__le__ = on_the_left("le")
__gt__ = on_the_left("gt")
__ge__ = on_the_left("ge")
__eq__ = on_the_left("eq")
__ne__ = on_the_left("ne")

__neg__ = on_the_only("neg")
__abs__ = on_the_only("abs")
