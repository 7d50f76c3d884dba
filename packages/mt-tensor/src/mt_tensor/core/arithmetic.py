"""Python's operators on tensors, `x + y` and `2.0 * x`.

They are the functions of the rows, as `table_functions.py` makes them. An operand that is neither
tensor nor number (an array of NumPy, for example) is the library's subject
(`Tensor._operate_foreign`); with a number on the left Python asks the tensor on the right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_operators import OPERATORS
from mt_tensor.core.dtypes import plain
from mt_tensor.core.elementwise import OPERANDS, OPERATIONS
from mt_tensor.core.rows import FUNCTIONS, describe, of_one, of_two, shortened
from mt_tensor.core.tensor import Tensor


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
                return x._operate_foreign(operation.operator, other)
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
        result: Tensor = function(other, self) if known else self._reflect_foreign(operator, other)
        return result

    return reflected


# The operators with a reflected form, `__radd__` of `2.0 + x`.
__add__, __radd__ = on_the_left("add"), on_the_right("add")
__sub__, __rsub__ = on_the_left("sub"), on_the_right("sub")
__mul__, __rmul__ = on_the_left("mul"), on_the_right("mul")
__truediv__, __rtruediv__ = on_the_left("div"), on_the_right("div")
__floordiv__, __rfloordiv__ = on_the_left("floor_divide"), on_the_right("floor_divide")
__mod__, __rmod__ = on_the_left("remainder"), on_the_right("remainder")
__pow__, __rpow__ = on_the_left("pow"), on_the_right("pow")
__and__, __rand__ = on_the_left("bitwise_and"), on_the_right("bitwise_and")
__or__, __ror__ = on_the_left("bitwise_or"), on_the_right("bitwise_or")
__xor__, __rxor__ = on_the_left("bitwise_xor"), on_the_right("bitwise_xor")
__lshift__, __rlshift__ = on_the_left("bitwise_left_shift"), on_the_right("bitwise_left_shift")
__rshift__, __rrshift__ = on_the_left("bitwise_right_shift"), on_the_right("bitwise_right_shift")

# A comparison has none: Python calls the opposite one, `x > 2.0` for `2.0 < x`.
__lt__ = on_the_left("lt")
__le__ = on_the_left("le")
__gt__ = on_the_left("gt")
__ge__ = on_the_left("ge")
__eq__ = on_the_left("eq")
__ne__ = on_the_left("ne")

__invert__ = on_the_only("bitwise_not")
__neg__ = on_the_only("neg")
__abs__ = on_the_only("abs")
