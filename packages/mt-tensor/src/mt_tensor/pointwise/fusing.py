"""`fuse`: a function of tensors, element by element, as one pass over memory and one back.

    @mt.fuse
    def scaled_tanh(x, scale):
        return mt.tanh(x) * scale + x

Called on tensors, each operation of such a function writes a result that the next one reads again.
`fuse` runs the function once on a backend whose elements are symbols: instead of numbers, it leaves
the graph of what it computes. The graph is a new operator, whose partial derivatives follow from it
(`mt_operators.core.differentiation`), and every backend runs it like those of the table.
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
from mt_tensor.tape import unseen

F = TypeVar("F", bound=Callable[..., Any])


def fuse(function: F) -> F:
    """Return a function of tensors as a single operation, element by element.

    Its derivatives, of all orders, are worked out. Arguments are promoted to one element type and
    broadcast before, integers become floating point, and numbers may stand for tensors.

    >>> import mt_tensor as mt
    >>> @fuse
    ... def bump(x, width):
    ...     return mt.exp(-x * x / width)
    >>> x = mt.tensor([0.0, 1.0], requires_grad=True)
    >>> y = bump(x, 2.0)
    >>> y
    tensor([1.0000, 0.6065], grad_fn=<bump>)

    Args:
        function: takes positional arguments and returns a tensor computed from them by operations
            on elements only. It is run once, when it is first called, on symbols of shape ().

    Raises:
        FusionError: on the first call, if the function looks at an element, changes one in place,
            or uses an operation that is not one on elements.
    """
    parameters = inspect.signature(function).parameters
    if any(each.kind > each.POSITIONAL_OR_KEYWORD for each in parameters.values()):
        raise FusionError(
            f"fuse() takes a function of positional arguments alone, not {function!r}."
        )

    @functools.cache
    def operation() -> ElementwiseOperation:
        return ElementwiseOperation(fused_operator(function, list(parameters)))

    @functools.wraps(function)
    def fused(*args: Any) -> Tensor:
        for arg in args:
            if isinstance(arg, Tensor) and arg.backend is SCRIBE:  # within another one
                return function(*args)  # type: ignore[no-any-return]
        return operation()(*args)

    _OPERATIONS[fused] = operation
    return fused  # type: ignore[return-value]


def operator_of(fused: Callable[..., Any]) -> Operator:
    """Return the operator that `fuse` has made of a function.

    Raises:
        FusionError: it was not made by `fuse`, or cannot be fused.
    """
    if fused not in _OPERATIONS:
        raise FusionError(f"{fused!r} was not made by fuse().")
    return _OPERATIONS[fused]().operator


_OPERATIONS: WeakKeyDictionary[Callable[..., Any], Callable[[], ElementwiseOperation]] = (
    WeakKeyDictionary()
)
"""For each fused function, what returns its operation."""


# --- Running a function on symbols ----------------------------------------------------------------


class Scribe(TensorBackend):
    """A backend on which every tensor has shape (), and its storage is a symbol or a number."""

    name = "fuse"

    def elementwise(self, formula: Formula) -> Callable[..., TensorData]:
        """Return what a formula makes of symbols; a row of the table stays one operation."""
        name = formula.name
        is_row = is_value(formula) and OPERATORS[name].result in ("number", "real")

        def run(out: Layout | Sequence[TensorData], *inputs: TensorData | Number) -> TensorData:
            if not isinstance(out, Layout):
                _refuse("changes a tensor in place")
            if out.shape:
                _refuse(f"makes a view of shape {out.shape}")
            values = [x.storage if isinstance(x, TensorData) else x for x in inputs]
            value = apply(name, *values) if is_row else formula.function(*values)
            return TensorData(value, (), dtype=out.dtype)

        return run

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a number."""
        return TensorData(value, (), dtype=dtype)

    def copy(self, source: TensorData, out: Layout | TensorData) -> TensorData:
        """Return a value of another type: all compute in that of the arguments in the end."""
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
        """Refuse to hold elements."""
        _refuse("makes a tensor of its own")

    def from_host(self, array: Array) -> TensorData:
        """Refuse to hold elements."""
        _refuse("makes a tensor of its own")

    def to_host(self, data: TensorData) -> Array:
        """Refuse to show elements: there are none."""
        _refuse("looks at an element, as in `if x > 0` or x.item()")

    def _no_operation_on_elements(self, *_: Any) -> NoReturn:
        _refuse("uses an operation that folds, moves or multiplies whole tensors")

    reduce = matmul = gather = scatter = concatenate = _no_operation_on_elements  # type: ignore[assignment]


SCRIBE = Scribe()
"""The one backend whose elements are symbols; it serves all functions."""


def _refuse(what: str) -> NoReturn:
    raise FusionError(
        f"a fused function computes each element by itself, but this one {what}: leave that to "
        "the caller; choose between elements with where()."
    )


def on_symbols(symbol: Symbol) -> Tensor:
    """Return the tensor that stands for an argument while a function is run on symbols."""
    return Tensor._make(TensorData(symbol, (), dtype=float32), SCRIBE)


def value_of(result: Any) -> Symbol | Number:
    """Return the value that a function has returned.

    Raises:
        FusionError: it is no floating-point tensor that was computed from elements alone.
    """
    if not isinstance(result, Tensor) or result.backend is not SCRIBE:
        _refuse(f"returns {result!r} instead of a tensor made from its arguments")
    if not result.is_floating_point():
        _refuse(f"returns {result.dtype.name}")
    if result.shape:
        _refuse(f"makes a view of shape {result.shape}")
    value: Symbol | Number = result._tensor.storage
    return value


def fused_operator(function: Callable[..., Any], parameters: Sequence[str]) -> Operator:
    """Return a function of tensors as an operator, with its partial derivatives."""
    name = name_of(function)
    recorder = Recorder(name, len(parameters))
    with unseen():
        result = function(*map(on_symbols, recorder.arguments))
    return derived(name, parameters, recorder.graph([value_of(result)]))


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called, if the code of a formula can be called that.

    What it calls keeps its name: a function of the name of an operator gets another.
    """
    name: str = function.__name__
    if not name.isidentifier() or keyword.iskeyword(name):
        return "fused"
    return f"fused_{name}" if name in OPERATORS else name
