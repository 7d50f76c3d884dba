"""The operator table as functions and methods, `mt.exp(x)` and `x.exp()`.

One function is made for each row, when it enters the table, with torch's names for its arguments.
Operations whose arguments are more than those of their row, `clamp` and `gelu` for example, have
functions of their own, in files by subject. Tensors of one element type, and a tensor with a number
of its kind, need no promotion: what remains is to ask the backend for the values and to record
them. That short way is taken here, for most operations of a program are of this kind. All else goes
to the `ElementwiseOperation` of the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from mt_autodiff.core.mode import recording
from mt_operators import OPERATORS, Operator
from mt_tensor.core.dtypes import DTYPES, DType, Number, bool_, is_exact
from mt_tensor.core.elementwise import (
    OPERATIONS,
    ElementwiseOperation,
    constant,
    shared_constant,
)
from mt_tensor.core.function import require_tensors
from mt_tensor.core.layout import row_major
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.core.tensor import Tensor

_make = Tensor._make

Operand: TypeAlias = Tensor | Number

FUNCTIONS: dict[str, Callable[..., Tensor]] = {}
"""The function of each row, by its name and aliases."""


def of_one(operation: ElementwiseOperation, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation of one argument as a function.

    Args:
        operation: of a row of the table.
        otherwise: the same for what needs conversion or a check, or is no tensor.
    """
    plans, record, truth, direct = _how(operation)

    def function(input: Any) -> Tensor:
        if not isinstance(input, Tensor) or input._tensor.layout.dtype not in direct:
            return otherwise(input)  # type: ignore[no-any-return]
        data, backend = input._tensor, input.backend
        layout = data.layout
        out = row_major(layout.shape, bool_) if truth else layout.contiguous
        value = plans[backend, out, layout](data)
        result = _make(value, backend)
        if input._requires_grad and recording.get() and not truth:
            record((input,), (data, value), result)
        return result

    return function


def of_two(operation: ElementwiseOperation, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation of two arguments as a function; see `of_one`."""
    plans, record, truth, direct = _how(operation)

    def function(input: Any, other: Any) -> Tensor:
        x = input if input.__class__ is Tensor else _operand(input, other)
        y = other if other.__class__ is Tensor else _operand(other, input)
        if x is None or y is None:
            return otherwise(input, other)  # type: ignore[no-any-return]
        first, second, backend = x._tensor, y._tensor, x.backend
        layout, another = first.layout, second.layout
        if layout.dtype not in direct or y.backend is not backend:
            return otherwise(input, other)  # type: ignore[no-any-return]
        out = layout.contiguous
        if another is not layout:
            if another.dtype is not layout.dtype:
                return otherwise(input, other)  # type: ignore[no-any-return]
            if another.shape and another.shape != layout.shape:
                out = row_major(shape_broadcast(layout.shape, another.shape), layout.dtype)
        if truth:
            out = row_major(out.shape, bool_)
        value = plans[backend, out, layout, another](first, second)
        result = _make(value, backend)
        if (x._requires_grad or y._requires_grad) and not truth and recording.get():
            record((x, y), (first, second, value), result)
        return result

    return function


def shortened(power: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a base and an exponent that takes the ways of `SHORTER`."""

    def function(input: Any, exponent: Any) -> Any:
        kind = exponent.__class__
        if (kind is int or kind is float) and exponent in SHORTER and isinstance(input, Tensor):
            dtype = input._tensor.layout.dtype
            if dtype.is_floating_point and not dtype.is_narrow:  # which `autocast` may widen
                return SHORTER[exponent](input)
        return power(input, exponent)

    return function


def of_any(operation: ElementwiseOperation) -> Callable[..., Any]:
    """Return an operation as a function of which one argument at least must be a tensor."""

    def function(*operands: Any) -> Tensor:
        if not any(isinstance(operand, Tensor) for operand in operands):
            require_tensors(operation.operator.name, *operands)
        return operation(*operands)

    return function


def _how(operation: ElementwiseOperation) -> tuple[Any, Any, bool, set[DType]]:
    """Return how to compute and to record, whether the result is a truth value, and of what."""
    operator, rules = operation.operator, operation.rules
    truth = operator.result == "bool"
    kinds = set() if operator.result == "integer" else {"float"}  # that need no conversion or check
    if operator.result != "real" and rules.takes_integers and rules.closed:
        kinds.add("integer")
    if truth and rules.takes_bool:
        kinds.add("bool")
    direct = {dtype for dtype in DTYPES.values() if dtype.kind in kinds}
    if not rules.closed or operator.result == "real":
        direct = {dtype for dtype in direct if not dtype.is_narrow}  # see `precision.py`
    return operation.plans, operation.record, truth, direct


def _operand(value: Any, other: Any) -> Tensor | None:
    """Return a tensor itself, and a number as one like the other operand if it is of its kind."""
    kind = value.__class__
    if (kind is not float and kind is not int) or not isinstance(other, Tensor):
        return value if isinstance(value, Tensor) else None
    dtype = other._tensor.layout.dtype
    if kind is float:
        fits = dtype.is_floating_point
    else:
        fits = dtype is not bool_ and -(2**53) < value < 2**53  # else a float would be another
    if not fits or (dtype.is_narrow and not is_exact(value, dtype)):
        return None
    return (shared_constant if value else constant)(other.backend, dtype, value)


def _install(operator: Operator) -> None:
    """Make the function of a row."""
    operation = OPERATIONS[operator.name]
    function = of_any(operation)
    if operator.arity <= 2:
        function = (of_one if operator.arity == 1 else of_two)(operation, function)
    if operator.name == "pow":
        function = shortened(function)
    describe(function, operator)
    for name in (operator.name, *operator.aliases):
        FUNCTIONS[name] = function


def describe(function: Callable[..., Any], operator: Operator, module: str = __name__) -> None:
    """Give what was made of an operator its name, where it is found, and documentation."""
    function.__module__ = module
    function.__name__ = function.__qualname__ = operator.name
    function.__doc__ = f"Element by element: {operator.note}."


OPERATORS.for_each(_install)

SHORTER: dict[float, Callable[[Tensor], Tensor]] = {
    2: FUNCTIONS["square"],
    3: lambda x: FUNCTIONS["mul"](FUNCTIONS["square"](x), x),
    0.5: FUNCTIONS["sqrt"],
    -0.5: FUNCTIONS["rsqrt"],
    -1: FUNCTIONS["inv"],
}
"""Powers by the exponents that other rows make, without the logarithm that any other takes."""


# --- The functions by name ----------------------------------------------------------------------

Signature = TypeVar("Signature", bound=Callable[..., Tensor])


def _with(signature: Signature) -> Callable[[str], Signature]:  # noqa: ARG001
    """Return what looks up the function of a row; type checkers know it by this signature."""

    def function_of(name: str) -> Signature:
        return cast("Signature", FUNCTIONS[name])

    return function_of


def _one_tensor(input: Tensor) -> Tensor:
    raise NotImplementedError


def _two_operands(input: Operand, other: Operand) -> Tensor:
    raise NotImplementedError


unary, binary = _with(_one_tensor), _with(_two_operands)

abs = absolute = unary("abs")
cos = unary("cos")
exp = unary("exp")
id = unary("id")
inv = reciprocal = unary("inv")
isfinite = unary("isfinite")
isinf = unary("isinf")
isnan = unary("isnan")
log = unary("log")
logical_not = unary("logical_not")
neg = negative = unary("neg")
relu = unary("relu")
rsqrt = unary("rsqrt")
sigmoid = expit = unary("sigmoid")
sign = sgn = unary("sign")
sin = unary("sin")
sqrt = unary("sqrt")
tanh = unary("tanh")

eq = binary("eq")
ge = greater_equal = binary("ge")
gt = greater = binary("gt")
is_close = binary("is_close")
le = less_equal = binary("le")
logical_and = binary("logical_and")
logical_or = binary("logical_or")
logical_xor = binary("logical_xor")
lt = less = binary("lt")
maximum = binary("maximum")
minimum = binary("minimum")
mul = multiply = binary("mul")
ne = not_equal = binary("ne")
