"""The shortest way from a tensor's method to an operator's result.

Tensors of one element type, and a tensor with a number of its kind, need no promotion: what remains
is to ask the backend for the values and to record them. Here every tenth of a microsecond counts,
for each operation of every program pays it. All else goes to `ElementwiseOperation`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mt_autodiff.extending import recording
from mt_operators import Operator
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import DType, bool_, float16, is_half, plain
from mt_tensor.layout import row_major
from mt_tensor.pointwise.beside_arrays import array_on_the_left, array_on_the_right
from mt_tensor.pointwise.elementwise import ON_INTEGERS, OPERANDS, OPERATIONS
from mt_tensor.strides import shape_broadcast
from mt_tensor.tensor import Tensor, constant

_make = Tensor._make

_EXACT = 2**53
"""Smaller integers are the same number as a float."""


@functools.cache
def method(operator: Operator, left_to_others: bool = False) -> Callable[..., Any]:
    """Return an operator as a method: its first argument is a tensor.

    Args:
        operator: a row of the table.
        left_to_others: whether an argument that is neither tensor nor number is left to its own
            type, as Python's operators do, instead of being refused.
    """
    operation = OPERATIONS[operator.name]
    made: Callable[..., Any]
    if operator.arity == 1:
        made = _unary(operator)
    elif operator.arity == 2:
        made = _binary(operator, left_to_others)
    else:

        def made(self: Tensor, *others: Any) -> Tensor:
            return operation(self, *others)

    made.__name__ = operator.name
    made.__module__ = "mt_tensor.pointwise.arithmetic"  # which makes them methods
    made.__qualname__ = f"Tensor.{operator.name}"
    made.__doc__ = f"Element by element: {operator.note}."
    return made


def _unary(operator: Operator) -> Callable[..., Any]:
    operation = OPERATIONS[operator.name]
    computing, record = operation.computing, operation.record.of_one
    direct = operator.result in ("number", "real")

    def unary(self: Tensor) -> Tensor:
        data = self._tensor
        layout = data.layout
        if not (direct and layout.dtype.is_floating_point):
            return operation(self)
        backend = self.backend
        result = _make(computing[backend](layout.contiguous, data), backend)
        if self._requires_grad and recording.get():
            record(self, result)
        return result

    return unary


def _binary(operator: Operator, left_to_others: bool) -> Callable[..., Any]:
    operation = OPERATIONS[operator.name]
    computing, record = operation.computing, operation.record.of_two
    truth = operator.result == "truth"
    direct = _direct_kinds(operator)

    def binary(self: Tensor, other: Any) -> Tensor:
        data, backend = self._tensor, self.backend
        layout = data.layout
        y = other if isinstance(other, Tensor) else _constant(other, layout.dtype, backend)
        if y is not None and y.backend is backend and layout.dtype.kind in direct:
            second = y._tensor
            out, another = layout.contiguous, second.layout
            if another is not layout:
                if another.dtype is not layout.dtype:
                    return operation(self, other)
                if another.shape and another.shape != layout.shape:
                    out = row_major(shape_broadcast(layout.shape, another.shape), layout.dtype)
            if truth:
                out = row_major(out.shape, bool_)
            result = _make(computing[backend](out, data, second), backend)
            if (self._requires_grad or y._requires_grad) and recording.get() and not truth:
                record(self, y, result)
            return result
        if y is None and left_to_others and not isinstance(other, OPERANDS):
            other = plain(other)
            if not isinstance(other, OPERANDS):
                return array_on_the_right(operator, self, other)  # type: ignore[no-any-return]
        return operation(self, other)

    return binary


def _direct_kinds(operator: Operator) -> set[str]:
    """Return the kinds of elements that an operator takes without conversion and check."""
    if operator.result == "whole":
        return {"integer"}
    if operator.result == "truth":
        return {"float", "integer", "bool"} if operator.takes_bool else {"float", "integer"}
    unchecked = operator.result == "number" and operator.name not in ON_INTEGERS
    return {"float", "integer"} if unchecked else {"float"}


def _constant(number: Any, dtype: DType, backend: TensorBackend) -> Tensor | None:
    """Return a number as a tensor of an element type; None if it is not of its kind."""
    if number.__class__ is float:
        if not dtype.is_floating_point or (dtype is float16 and not is_half(number)):
            return None
        return constant(backend, dtype, number)
    if number.__class__ is int and dtype is not bool_ and -_EXACT < number < _EXACT:
        return constant(backend, dtype, number) if dtype is not float16 or is_half(number) else None
    return None


def reflected(operator: Operator) -> Callable[..., Any]:
    """Return an operator as Python calls it with a number on the left of a tensor."""
    operation, of_tensors = OPERATIONS[operator.name], method(operator)

    def reflected_operator(self: Tensor, other: Any) -> Tensor:
        if self.dtype.is_floating_point:
            number = _constant(other, self.dtype, self.backend)
            if number is not None:
                return of_tensors(number, self)  # type: ignore[no-any-return]
        if not isinstance(other, OPERANDS):
            other = plain(other)
            if not isinstance(other, OPERANDS):
                return array_on_the_left(operator, other, self)  # type: ignore[no-any-return]
        return operation(other, self)

    reflected_operator.__module__ = of_tensors.__module__
    return reflected_operator
