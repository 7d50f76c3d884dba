"""The operator table as functions, `mt.exp(x)`, and as Python operators, `x + y`.

A function is created for each row when the row is added to the table, with torch's names for its
arguments. It looks up the plan for the signature of its arguments, runs it, and records the result.
Arguments without a plan (of different dtypes, not tensors, or to be checked at each call) go to the
`ElementwiseOperation` of the row. Operations with more arguments than their row, such as `clamp`
and `gelu`, have their own functions, in files by subject.

`exchange/array_operands.py` handles arrays as operands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from mt_autodiff.core.mode import recording
from mt_operators import OPERATORS, Operator
from mt_tensor.core.dtypes import Number, plain
from mt_tensor.core.elementwise import OPERANDS, OPERATIONS, ElementwiseOperation, as_tensor_like
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.tensor import Tensor

_make = Tensor._make

Operand: TypeAlias = Tensor | Number

FUNCTIONS: dict[str, Callable[..., Tensor]] = {}
"""The function of each row, by its name and aliases."""


def unary_function(
    operation: ElementwiseOperation, fallback: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function for an operation of one argument.

    Args:
        operation: the operation of a row.
        fallback: the function to call for arguments without a plan.
    """
    planned, record = operation.planned, operation.record
    differentiable = operation.operator.result != "bool"

    def function(input: Any, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return _stored(operation, function, (input,), out)
        if not isinstance(input, Tensor):
            return fallback(input)  # type: ignore[no-any-return]
        data, backend = input._tensor, input.backend
        run = planned[backend, data.layout]
        if run is None:
            return fallback(input)  # type: ignore[no-any-return]
        value = run(data)
        result = _make(value, backend)
        if input._requires_grad and differentiable and recording.get():
            record((input,), (data, value), result)
        return result

    return function


def binary_function(
    operation: ElementwiseOperation, fallback: Callable[..., Any]
) -> Callable[..., Any]:
    """Return a function for an operation of two arguments; see `unary_function`."""
    planned, record = operation.planned, operation.record
    differentiable = operation.operator.result != "bool"

    def function(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            return _stored(operation, function, (input, other), out)
        x = input if input.__class__ is Tensor else as_tensor_like(input, other)
        y = other if other.__class__ is Tensor else as_tensor_like(other, input)
        if x is None or y is None or x.backend is not y.backend:
            return fallback(input, other)  # type: ignore[no-any-return]
        first, second, backend = x._tensor, y._tensor, x.backend
        run = planned[backend, first.layout, second.layout]
        if run is None:
            return fallback(input, other)  # type: ignore[no-any-return]
        value = run(first, second)
        result = _make(value, backend)
        if (x._requires_grad or y._requires_grad) and differentiable and recording.get():
            record((x, y), (first, second, value), result)
        return result

    return function


def _stored(
    operation: ElementwiseOperation, function: Callable[..., Any], args: tuple[Any, ...], out: Any
) -> Tensor:
    """Store the result of the function of a row in `out`, and return `out`."""
    name = operation.operator.name
    return EXTENSIONS["result in out"](name, function, args, {"out": out})  # type: ignore[no-any-return]


def with_special_exponents(power: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a power function to compute the exponents in `SPECIAL_EXPONENTS` with other rows."""

    def function(input: Any, exponent: Any, *, out: Tensor | None = None) -> Any:
        if out is not None:
            return _stored(OPERATIONS["pow"], function, (input, exponent), out)
        kind = exponent.__class__
        is_number = kind is int or kind is float
        if is_number and exponent in SPECIAL_EXPONENTS and isinstance(input, Tensor):
            dtype = input._tensor.layout.dtype
            if dtype.is_floating_point and not dtype.is_narrow:  # `autocast` may widen these
                return SPECIAL_EXPONENTS[exponent](input)
        return power(input, exponent)

    return function


def _install(operator: Operator) -> None:
    """Create the function of a row."""
    operation = OPERATIONS[operator.name]

    def function(*operands: Any) -> Tensor:
        return operation(*operands)

    if operator.arity <= 2:
        of_arity = unary_function if operator.arity == 1 else binary_function
        function = of_arity(operation, operation)
    if operator.name == "pow":
        function = with_special_exponents(function)
    describe(function, operator)
    for name in (operator.name, *operator.aliases):
        FUNCTIONS[name] = function


def describe(function: Callable[..., Any], operator: Operator) -> None:
    """Set the name and docstring of the function of a row.

    The docstring is the note of the row, with the names of the function's arguments.
    """
    function.__name__ = function.__qualname__ = operator.name
    code = function.__code__
    arguments = dict(zip(operator.parameters, code.co_varnames[: code.co_argcount], strict=False))
    note = re.sub(r"\w+", lambda word: arguments.get(word[0], word[0]), operator.note)
    function.__doc__ = f"Element by element: {note}."


OPERATORS.for_each(_install)

SPECIAL_EXPONENTS: dict[float, Callable[[Tensor], Tensor]] = {
    2: FUNCTIONS["square"],
    3: lambda x: FUNCTIONS["mul"](FUNCTIONS["square"](x), x),
    0.5: FUNCTIONS["sqrt"],
    -0.5: FUNCTIONS["rsqrt"],
    -1: FUNCTIONS["inv"],
}
"""Exponents whose powers other rows compute faster, without a logarithm."""


# --- Python operators, `x + y` and `2.0 * x` ----------------------------------------------------


def _other_operand(name: str, x: Tensor, operator: Operator, other: Any) -> Any:
    """Return the result for an operand that is neither tensor nor number, or NotImplemented."""
    return EXTENSIONS[name](x, operator, other) if name in EXTENSIONS else NotImplemented


def operator_method(row: str) -> Callable[..., Tensor]:
    """Return the method that Python calls on the left or only operand, such as `__add__`."""
    operation = OPERATIONS[row]

    def fallback(x: Tensor, *others: Any) -> Any:
        for other in others:
            if not isinstance(plain(other), OPERANDS):
                return _other_operand("array on the right", x, operation.operator, other)
        return operation(x, *others)

    function = (unary_function if operation.operator.arity == 1 else binary_function)(
        operation, fallback
    )
    if row == "pow":
        function = with_special_exponents(function)
    describe(function, operation.operator)
    return function


def reflected_method(row: str) -> Callable[[Tensor, Any], Tensor]:
    """Return the method that Python calls on the right operand, such as `__radd__`."""
    function, operator = FUNCTIONS[row], OPERATORS[row]

    def reflected(self: Tensor, other: Any) -> Tensor:
        if isinstance(plain(other), OPERANDS):
            return function(other, self)
        return _other_operand("array on the left", self, operator, other)  # type: ignore[no-any-return]

    return reflected


# --- The functions by name ----------------------------------------------------------------------

Signature = TypeVar("Signature", bound=Callable[..., Tensor])


def _with(signature: Signature) -> Callable[[str], Signature]:  # noqa: ARG001
    """Return a function that looks up the function of a row, typed with this signature."""

    def function_of(name: str) -> Signature:
        return cast("Signature", FUNCTIONS[name])

    return function_of


def _one_tensor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    raise NotImplementedError


def _two_operands(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    raise NotImplementedError


unary, binary = _with(_one_tensor), _with(_two_operands)

exp = unary("exp")
isnan = unary("isnan")
log = unary("log")
relu = unary("relu")
sigmoid = expit = unary("sigmoid")
sqrt = unary("sqrt")
tanh = unary("tanh")

logical_and = binary("logical_and")
logical_or = binary("logical_or")
maximum = binary("maximum")
