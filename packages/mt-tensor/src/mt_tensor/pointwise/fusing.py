"""`fuse`: compile an elementwise function of tensors to one pass over memory, and one backward.

    @mt.fuse
    def scaled_tanh(x, scale):
        return mt.tanh(x) * scale + x

Run eagerly, each operation of such a function writes an intermediate result to memory, and the next
one reads it. `fuse` runs the function once on a backend whose elements are symbols, which yields
the graph of the computation. The graph becomes a new operator, whose partial derivatives are
derived from it (`mt_operators.core.differentiation`), and which every backend runs like a row of
the operator table.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from mt_operators import OPERATORS, Formula, Operator
from mt_operators.core.differentiation import derived
from mt_operators.core.elementary import where
from mt_operators.core.lowering import apply, is_value
from mt_operators.core.tracing import Recorder, Symbol
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.dtypes import Array, DType, Number, bool_, float32
from mt_tensor.core.elementwise import ElementwiseOperation
from mt_tensor.core.layout import Layout
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.errors import FusionError
from mt_tensor.tape import without_tapes

F = TypeVar("F", bound=Callable[..., Any])


def fuse(function: F) -> F:
    """Compile an elementwise function of tensors to a single operation.

    The operation is differentiable to any order. Arguments are promoted to a common floating-point
    dtype and broadcast first; numbers are accepted in place of tensors.

    Args:
        function: takes positional arguments and returns a tensor computed from them by elementwise
            operations. It is traced at the first call, with symbols of shape ().

    Raises:
        FusionError: the function takes `*args`, `**kwargs` or keyword-only arguments without a
            default; or on the first call, if it reads an element, changes a tensor in place, or
            uses an operation that is not elementwise.
    """
    parameters = inspect.signature(function).parameters.values()
    positional = [each.name for each in parameters if each.kind <= each.POSITIONAL_OR_KEYWORD]
    options = [each for each in parameters if each.kind > each.POSITIONAL_OR_KEYWORD]
    if any(each.kind != each.KEYWORD_ONLY or each.default is each.empty for each in options):
        raise FusionError(
            f"fuse() takes a function of positional arguments only; {function!r} was given."
        )

    @functools.cache
    def operation() -> ElementwiseOperation:
        return ElementwiseOperation(fused_operator(function, positional))

    @functools.wraps(function)
    def fused(*args: Any) -> Tensor:
        for arg in args:
            if (
                isinstance(arg, Tensor) and arg.backend is SYMBOLIC
            ):  # called by another fused function
                return function(*args)  # type: ignore[no-any-return]
        return operation()(*args)

    _OPERATIONS[fused] = operation
    return fused  # type: ignore[return-value]


def operator_of(fused: Callable[..., Any]) -> Operator:
    """Return the operator of a function that `fuse` has compiled.

    Raises:
        FusionError: the function was not returned by `fuse`, or cannot be fused.
    """
    if fused not in _OPERATIONS:
        raise FusionError(f"{fused!r} was not returned by fuse(): compile it first, as in fuse(f).")
    return _OPERATIONS[fused]().operator


_OPERATIONS: WeakKeyDictionary[Callable[..., Any], Callable[[], ElementwiseOperation]] = (
    WeakKeyDictionary()
)
"""For each fused function, a function that returns its operation."""


# --- Tracing a function with symbols --------------------------------------------------------------


class SymbolicBackend(TensorBackend):
    """A backend on which every tensor has shape (), and its storage is a symbol or a number."""

    name = "fuse"

    def elementwise(self, formula: Formula) -> Callable[..., TensorData]:
        """Apply a formula to symbols; a row of the operator table remains a single operation."""
        name = formula.name
        is_row = is_value(formula) and OPERATORS[name].result in ("number", "real")

        def run(out: Layout | Sequence[TensorData], *inputs: TensorData | Number) -> TensorData:
            if not isinstance(out, Layout):
                _refuse("changes a tensor in place")
            if out.shape:
                _refuse(f"creates a view of shape {out.shape}")
            values = [x.storage if isinstance(x, TensorData) else x for x in inputs]
            value = apply(name, *values) if is_row else formula.function(*values)
            return TensorData(value, (), dtype=out.dtype)

        return run

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a number."""
        return TensorData(value, (), dtype=dtype)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Convert to another floating-point dtype, which has no effect on a symbol."""
        if isinstance(out, TensorData):
            _refuse("changes a tensor in place")
        dtype = out.dtype
        if not dtype.is_floating_point:
            _refuse(f"converts to {dtype.name}")
        value = source.storage
        if source.dtype is bool_:
            value = where(value, 1.0, 0.0)
        return TensorData(value, (), dtype=dtype)

    def empty(self, shape: Shape, dtype: DType) -> TensorData:
        """Raise FusionError: symbols need no memory."""
        _refuse("creates a tensor")

    def from_host(self, array: Array) -> TensorData:
        """Raise FusionError: an array cannot be a symbol."""
        _refuse("creates a tensor")

    def to_host(self, data: TensorData) -> Array:
        """Raise FusionError: a symbol has no elements."""
        _refuse(
            "reads an element, as in `if x > 0` or x.item()",
            "choose between elements with where(), and pass other tensors as arguments",
        )

    def _not_elementwise(self, *_: Any) -> NoReturn:
        _refuse(
            "reduces, moves or multiplies whole tensors",
            "compute the result before, and pass it as another argument",
        )

    reduce = matmul = gather = scatter = concatenate = _not_elementwise  # type: ignore[assignment]


SYMBOLIC = SymbolicBackend()
"""The only instance of `SymbolicBackend`."""


def _refuse(what: str, advice: str = "do that outside of it") -> NoReturn:
    raise FusionError(f"a fused function must be elementwise, but this one {what}: {advice}.")


def symbolic_tensor(symbol: Symbol) -> Tensor:
    """Return the tensor that represents an argument while a function is traced."""
    return Tensor._make(TensorData(symbol, (), dtype=float32), SYMBOLIC)


def value_of(result: Any) -> Symbol | Number:
    """Return the symbol or number of a tensor that a traced function has returned.

    Raises:
        FusionError: it is not a floating-point tensor computed from the arguments.
    """
    if not isinstance(result, Tensor) or result.backend is not SYMBOLIC:
        _refuse(f"returns {result!r} instead of a tensor computed from its arguments")
    if not result.is_floating_point():
        _refuse(f"returns {result.dtype.name}")
    if result.shape:
        _refuse(f"creates a view of shape {result.shape}")
    return result._tensor.storage  # type: ignore[no-any-return]


def fused_operator(function: Callable[..., Any], parameters: Sequence[str]) -> Operator:
    """Trace a function of tensors, and return an operator with its partial derivatives."""
    name = name_of(function)
    recorder = Recorder(name, len(parameters))
    with without_tapes():
        result = function(*map(symbolic_tensor, recorder.arguments))
    return derived(name, parameters, recorder.graph([value_of(result)]))


def name_of(function: Callable[..., Any]) -> str:
    """Return a valid name for the formula of a function, different from those of operators."""
    name: str = function.__name__
    if not name.isidentifier() or keyword.iskeyword(name):
        return "fused"
    return f"fused_{name}" if name in OPERATORS else name
