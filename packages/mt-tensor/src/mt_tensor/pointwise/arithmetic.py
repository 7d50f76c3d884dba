"""Python's operators on tensors, `x + y` and `2.0 * x`.

They are the functions of the rows, as `table_functions.py` makes them. An operand that is neither
tensor nor number (an array of NumPy, for example) is the library's subject
(`Tensor._operate_foreign`); with a number on the left Python asks the tensor on the right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_operators import OPERATORS
from mt_tensor.dtypes import plain
from mt_tensor.pointwise.elementwise import OPERANDS, OPERATIONS
from mt_tensor.pointwise.table_functions import FUNCTIONS, describe, of_one, of_two, shortened
from mt_tensor.public import method
from mt_tensor.tensor import Tensor

REFLECTED = {
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
"""Python's operators with a reflected form (`__radd__`), without underscores, and their rows."""

OTHERS = {"invert": "bitwise_not", "neg": "neg", "abs": "abs"} | {
    name: name for name in ("lt", "le", "gt", "ge", "eq", "ne")
}
"""Python's other operators, and their rows."""


def _on_the_left(row: str) -> Callable[..., Any]:
    """Return an operator as a method of its left side, or of its only argument."""
    operation = OPERATIONS[row]

    def otherwise(x: Tensor, *others: Any) -> Any:
        for other in others:
            if not isinstance(plain(other), OPERANDS):
                return x._operate_foreign(operation.operator, other)
        return operation(x, *others)

    function = (of_one if operation.operator.arity == 1 else of_two)(operation, otherwise)
    return shortened(function) if row == "pow" else function


def _on_the_right(row: str) -> Callable[..., Any]:
    """Return an operator as a method of its right side, which Python asks second."""
    function, operator = FUNCTIONS[row], OPERATORS[row]

    def reflected(self: Tensor, other: Any) -> Tensor:
        known = isinstance(plain(other), OPERANDS)
        result: Tensor = function(other, self) if known else self._reflect_foreign(operator, other)
        return result

    return reflected


for _name, _row in (REFLECTED | OTHERS).items():
    _function = _on_the_left(_row)
    describe(_function, OPERATORS[_row], __name__)
    method(f"__{_name}__")(_function)
for _name, _row in REFLECTED.items():
    method(f"__r{_name}__")(_on_the_right(_row))
