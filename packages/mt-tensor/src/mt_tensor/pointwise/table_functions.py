"""The operator table as functions, `mt.exp(x)` and `mt.maximum(x, y)`.

One function is made for each row, when it enters the table, with torch's names for its arguments.
It calls the method, for a tensor. Operations whose arguments are more than those of their row,
`clamp` and `gelu` for example, have functions of their own, in files by subject.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from mt_operators import OPERATORS, Operator
from mt_tensor.dtypes import Number
from mt_tensor.pointwise.direct import method
from mt_tensor.pointwise.elementwise import OPERATIONS
from mt_tensor.public import FUNCTIONS as OFFERED
from mt_tensor.recording.function import require_tensors
from mt_tensor.tensor import Tensor

Operand: TypeAlias = Tensor | Number


FUNCTIONS: dict[str, Callable[..., Tensor]] = {}
"""The function of each row, by its name and aliases."""


def _install(operator: Operator) -> None:
    """Make the function of a row."""
    function = {1: _unary, 2: _binary}.get(operator.arity, _of_many)(operator)
    function.__name__ = function.__qualname__ = operator.name
    function.__doc__ = f"Element by element: {operator.note}."
    for name in (operator.name, *operator.aliases):
        FUNCTIONS[name] = function
        OFFERED.setdefault(name, function)  # there may be one with more settings


def _unary(operator: Operator) -> Callable[..., Tensor]:
    name, of_tensor = operator.name, method(operator)

    def function(input: Any) -> Tensor:
        if not isinstance(input, Tensor):
            require_tensors(name, input)
        return of_tensor(input)  # type: ignore[no-any-return]

    return function


def _binary(operator: Operator) -> Callable[..., Tensor]:
    name, of_tensor, operation = operator.name, method(operator), OPERATIONS[operator.name]

    def function(input: Any, other: Any) -> Tensor:
        if isinstance(input, Tensor):
            return of_tensor(input, other)  # type: ignore[no-any-return]
        if not isinstance(other, Tensor):
            require_tensors(name, input)
        return operation(input, other)

    return function


def _of_many(operator: Operator) -> Callable[..., Tensor]:
    name, operation = operator.name, OPERATIONS[operator.name]

    def function(*operands: Any) -> Tensor:
        if not any(isinstance(operand, Tensor) for operand in operands):
            require_tensors(name, *operands)
        return operation(*operands)

    return function


OPERATORS.for_each(_install)
