"""`fuse`: a function of tensors, element by element, as one pass over memory and one back.

    @mt.fuse
    def scaled_tanh(x, scale):
        return mt.tanh(x) * scale + x

Called on tensors, each operation of such a function writes a result that the next one reads again.
`fuse` runs the function once on a backend that does not compute, but writes down which operators of
the table it is asked for. From these follow a formula for the value, and by the chain rule one for
each partial derivative: a new operator, which every backend runs like those of the table.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import keyword
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from mt_operators import OPERATORS, Formula, Operator
from mt_operators.elementary import ELEMENTARY
from mt_operators.extending import one, zero
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import Array, DType, Number, bool_, float32
from mt_tensor.errors import FusionError
from mt_tensor.pointwise.elementwise import ElementwiseOperation
from mt_tensor.strides import Shape
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData

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
    parameters = tuple(inspect.signature(function).parameters.values())
    if any(parameter.kind > parameter.POSITIONAL_OR_KEYWORD for parameter in parameters):
        raise FusionError(
            f"fuse() takes a function of positional arguments alone, not {function!r}."
        )

    @functools.cache
    def operation() -> ElementwiseOperation:
        return ElementwiseOperation(derived(function, len(parameters)))

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


# --- Writing down what a function does -----------------------------------------------------------


class Argument:
    """An argument of the function."""


class Constant:
    """A number.

    Attributes:
        number: which.
    """

    def __init__(self, number: Number) -> None:
        self.number = number


class Call:
    """An operator of the table, applied.

    Attributes:
        operator: which.
        operands: to what.
    """

    def __init__(self, operator: Operator, operands: tuple[Value, ...]) -> None:
        self.operator = operator
        self.operands = operands


Value = Argument | Constant | Call


class Scribe(TensorBackend):
    """A backend on which every tensor has shape (), and is a value that has been written down."""

    name = "fuse"

    def compute(
        self, formula: Formula, inputs: Sequence[TensorData], shape: Shape, dtype: DType
    ) -> TensorData:
        """Return the call of an operator."""
        if shape:
            _refuse(f"makes a view of shape {shape}")
        operands = tuple(view.storage for view in inputs)
        return TensorData(Call(OPERATORS[formula.name], operands), (), dtype=dtype)

    def full(self, shape: Shape, dtype: DType, value: Number) -> TensorData:
        """Return a constant."""
        return TensorData(Constant(value), (), dtype=dtype)

    def converted(self, source: TensorData, dtype: DType) -> TensorData:
        """Return a value of another type: all compute in that of the arguments in the end."""
        if not dtype.is_floating_point:
            _refuse(f"converts to {dtype.name}")
        value = source.storage
        if source.dtype is bool_:
            value = Call(OPERATORS["where"], (value, Constant(1.0), Constant(0.0)))
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

    def elementwise(
        self, formula: Formula, inputs: Sequence[TensorData], outputs: Sequence[TensorData]
    ) -> None:
        """Refuse to change elements."""
        _refuse("changes a tensor in place")

    def _no_operation_on_elements(self, *_: Any) -> NoReturn:
        _refuse("uses an operation that folds, moves or multiplies whole tensors")

    fold = product = gathered = joined = _no_operation_on_elements  # type: ignore[assignment]
    reduce = matmul = gather = scatter = copy = _no_operation_on_elements  # type: ignore[assignment]


SCRIBE = Scribe()
"""All that is written down are values, so that one backend serves all functions."""


def _refuse(what: str) -> NoReturn:
    raise FusionError(
        f"a fused function computes each element by itself, but this one {what}: leave that to "
        "the caller; choose between elements with where()."
    )


def symbol_of(argument: Argument) -> Tensor:
    """Return the tensor that stands for an argument while a function is run to be written down."""
    return Tensor._make(TensorData(argument, (), dtype=float32), SCRIBE)


def value_of(result: Any) -> Value:
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
    value: Value = result._tensor.storage
    return value


# --- From values to an operator -------------------------------------------------------------------


def derived(function: Callable[..., Any], count: int) -> Operator:
    """Return a function of `count` tensors as an operator, with its partial derivatives."""
    arguments = [Argument() for _ in range(count)]
    program = Program([value_of(function(*map(symbol_of, arguments)))], arguments)
    name = name_of(function)
    return Operator(
        name,
        program.value(name),
        tuple(program.partial(f"{name}_by_{i}", argument) for i, argument in enumerate(arguments)),
        result="real",
        note=(inspect.getdoc(function) or name).splitlines()[0],
    )


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called, if the code of a formula can be called that.

    What it calls keeps its name: a function of the name of an operator gets another.
    """
    name: str = function.__name__
    if not name.isidentifier() or keyword.iskeyword(name):
        return "fused"
    return f"fused_{name}" if name in OPERATORS or name in ELEMENTARY else name


class Program:
    """Values as text: a statement for each call, after those of its operands."""

    def __init__(self, results: Sequence[Value], arguments: Sequence[Argument]) -> None:
        self._results = results
        self._calls = _in_order(results)  # the last is the last result, unless that is no call
        self._parameters = [f"x{i}" for i in range(len(arguments))]
        self._names = dict(zip(map(id, arguments), self._parameters, strict=True))
        self._names |= {id(call): f"t{i}" for i, call in enumerate(self._calls)}
        self._namespace: dict[str, Any] = {}
        for value in (*results, *itertools.chain(*(call.operands for call in self._calls))):
            if isinstance(value, Constant) and id(value) not in self._names:
                name = self._names[id(value)] = f"c{len(self._namespace)}"
                self._namespace[name] = value.number

    @property
    def reads(self) -> set[int]:
        """The ids of all values that a call or the results read, among them the arguments."""
        operands = itertools.chain(*(call.operands for call in self._calls))
        return {id(value) for value in (*self._results, *operands)}

    def value(self, name: str) -> Callable[..., Any]:
        """Return a function of the arguments."""
        returned = ", ".join(self._names[id(result)] for result in self._results)
        return self._function(name, self._parameters, self._forward(self._calls), returned)

    def partial(self, name: str, argument: Argument) -> Callable[..., Any]:
        """Return the partial derivative of a single result: of the arguments and `out`.

        The derivative of the result by each call that varies with the argument is added up in
        reverse order (stage 1's `backpropagate`, written out).
        """
        (result,) = self._results
        if result is argument:
            return one
        varying = {id(argument)}
        for call in self._calls:
            if any(id(operand) in varying for operand in call.operands):
                varying.add(id(call))
        if id(result) not in varying:
            return zero
        *before, last = self._calls
        lines = [*self._forward(before), f"{self._names[id(last)]} = out"]
        shares: dict[int, list[str]] = {id(last): ["1.0"]}
        for call in reversed(self._calls):
            if id(call) not in shares:
                continue
            total = f"d{self._names[id(call)]}"
            lines.append(f"{total} = {' + '.join(shares[id(call)])}")
            for position, operand in enumerate(call.operands):
                if id(operand) in varying:
                    share = self._share(call, position, total)
                    shares.setdefault(id(operand), []).append(share)
        lines.append(f"derivative = {' + '.join(shares[id(argument)])}")
        return self._function(name, [*self._parameters, "out"], lines, "derivative")

    def _share(self, call: Call, position: int, total: str) -> str:
        """Return the share of the derivative by a call that one of its operands gets."""
        operator = call.operator
        partial = operator.partials[position]
        if partial is one:
            return total
        slope, share = f"{operator.name}_by_{position}", f"{operator.name}_share"
        self._namespace |= {slope: partial, share: operator.share}
        known = ", ".join(self._names[id(value)] for value in (*call.operands, call))
        return f"{share}({total}, {slope}({known}))"

    def _forward(self, calls: Sequence[Call]) -> list[str]:
        """Return the statements of calls."""
        lines = []
        for call in calls:
            function = f"{call.operator.name}_"
            self._namespace[function] = call.operator.function
            operands = ", ".join(self._names[id(operand)] for operand in call.operands)
            lines.append(f"{self._names[id(call)]} = {function}({operands})")
        return lines

    def _function(
        self, name: str, parameters: Sequence[str], lines: Sequence[str], returned: str
    ) -> Callable[..., Any]:
        """Return the function that these statements make."""
        body = "".join(f"    {line}\n" for line in (*lines, f"return {returned}"))
        namespace = dict(self._namespace)
        exec(f"def {name}({', '.join(parameters)}):\n{body}", namespace)
        function: Callable[..., Any] = namespace[name]
        return function


def _in_order(values: Sequence[Value]) -> list[Call]:
    """Return the calls that lead to values, each after those of its operands."""
    done: dict[int, Call] = {}
    waiting: list[tuple[Value, bool]] = [(value, False) for value in reversed(values)]
    while waiting:
        current, ready = waiting.pop()
        if not isinstance(current, Call) or id(current) in done:
            continue
        if ready:
            done[id(current)] = current
        else:
            waiting.append((current, True))
            waiting.extend((operand, False) for operand in current.operands)
    return list(done.values())
