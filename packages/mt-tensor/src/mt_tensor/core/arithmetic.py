"""Python's operators on tensors, `x + y` and `2.0 * x`.

They are the functions of the rows, as `rows.py` makes them; with a number on the left Python calls
the method of the tensor on the right. Arrays as operands are in `exchange/array_operands.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_operators import OPERATORS, Operator
from mt_tensor.core.dtypes import plain
from mt_tensor.core.elementwise import OPERANDS, OPERATIONS
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.rows import FUNCTIONS, describe, of_one, of_two, shortened
from mt_tensor.core.tensor import Tensor


def _beside(name: str, x: Tensor, operator: Operator, other: Any) -> Any:
    """Return the result of a tensor and what is neither tensor nor number, or NotImplemented."""
    return EXTENSIONS[name](x, operator, other) if name in EXTENSIONS else NotImplemented


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
                return _beside("array on the right", x, operation.operator, other)
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
        if isinstance(plain(other), OPERANDS):
            return function(other, self)  # type: ignore[no-any-return]
        return _beside("array on the left", self, operator, other)  # type: ignore[no-any-return]

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
