"""The operator table as functions, `mt.exp(x)` and `mt.maximum(x, y)`.

One function is made for each row, when it enters the table, with torch's names for its arguments.
It calls the method, for a tensor. The annotations below tell type checkers and editors which
functions there are. Operations whose arguments are more than those of their row,
`clamp` and `gelu` for example, have functions of their own, in files by subject.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from mt_operators import OPERATORS, Operator
from mt_tensor.dtypes import Number
from mt_tensor.pointwise.direct import method
from mt_tensor.pointwise.elementwise import OPERATIONS
from mt_tensor.recording.function import require_tensors
from mt_tensor.tensor import Tensor

Operand: TypeAlias = Tensor | Number


class Unary(Protocol):
    """A function of one tensor."""

    def __call__(self, input: Tensor) -> Tensor:
        """Return a tensor of the same shape."""


class Binary(Protocol):
    """A function of two operands, at least one of which is a tensor."""

    def __call__(self, input: Operand, other: Operand) -> Tensor:
        """Return a tensor of the shape to which the operands broadcast."""


abs: Unary
acos: Unary
acosh: Unary
asin: Unary
asinh: Unary
atan2: Binary
atan: Unary
atanh: Unary
ceil: Unary
copysign: Binary
cos: Unary
cosh: Unary
digamma: Unary
eq: Binary
erf: Unary
erfc: Unary
erfinv: Unary
exp2: Unary
exp: Unary
expm1: Unary
floor: Unary
ge: Binary
gelu_tanh: Unary
gt: Binary
hardsigmoid: Unary
hardswish: Unary
hypot: Binary
id: Unary
inv: Unary
is_close: Binary
isfinite: Unary
isinf: Unary
isnan: Unary
le: Binary
lgamma: Unary
log10: Unary
log1p: Unary
log2: Unary
log: Unary
log_sigmoid: Unary
logaddexp: Binary
logical_and: Binary
logical_not: Unary
logical_or: Binary
logical_xor: Binary
lt: Binary
maximum: Binary
minimum: Binary
mish: Unary
mul: Binary
ndtr: Unary
ne: Binary
neg: Unary
quick_gelu: Unary
relu: Unary
relu6: Unary
rsqrt: Unary
selu: Unary
sigmoid: Unary
sign: Unary
signbit: Unary
silu: Unary
sin: Unary
sinc: Unary
sinh: Unary
softsign: Unary
sqrt: Unary
tan: Unary
tanh: Unary
trunc: Unary
xlogy: Binary

absolute: Unary
arccos: Unary
arccosh: Unary
arcsin: Unary
arcsinh: Unary
arctan: Unary
arctan2: Binary
arctanh: Unary
expit: Unary
fix: Unary
greater: Binary
greater_equal: Binary
less: Binary
less_equal: Binary
logsigmoid: Unary
multiply: Binary
negative: Unary
not_equal: Binary
reciprocal: Unary
sgn: Unary

FUNCTIONS: dict[str, Callable[..., Tensor]] = {}
"""The function of each row, by its name and aliases."""


def _install(operator: Operator) -> None:
    """Make the function of a row."""
    function = {1: _unary, 2: _binary}.get(operator.arity, _of_many)(operator)
    function.__name__ = function.__qualname__ = operator.name
    function.__module__ = "mt_tensor"
    function.__doc__ = f"Element by element: {operator.note}."
    FUNCTIONS.update(dict.fromkeys((operator.name, *operator.aliases), function))


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
globals().update(FUNCTIONS)
