"""The operator table lifted to tensors.

Each row becomes an operation that promotes its arguments to one dtype, broadcasts them, and hands
one formula to the backend: the value going forward, all wanted gradients at once going backward.
Under `create_graph` the partial derivatives run on tensors instead and record themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from mt_autodiff.mode import recording
from mt_operators import OPERATORS, Operator, lift
from mt_operators.elementary import ROUNDING
from mt_operators.formula import one
from mt_operators.written import written_partials
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import DType, Number, bool_, float32, int64, result_type
from mt_tensor.errors import DivisionByZeroError, DTypeError
from mt_tensor.recording.function import changed_in_place, common_backend
from mt_tensor.recording.graph import Node, connect
from mt_tensor.strides import Shape, shape_broadcast
from mt_tensor.tensor_base import VIEW, TensorBase, constant
from mt_tensor.tensor_data import TensorData

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor

_make = TensorBase._make
_new = object.__new__

_NOT_ON_BOOL = {
    "neg": "use logical_not",
    "sub": "use ne",
    **dict.fromkeys(("pow", "abs", "relu", "relu6", "hardtanh", "clamp", *ROUNDING), ""),
    **dict.fromkeys(("floor_divide", "remainder", "fmod", "gcd", "lcm"), ""),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), ""),
}
"""Operators that truth values do not have, as in torch, and what to use instead."""


_AS_FLOATS = ("signbit",)
"""Operators that must divide by zero, which integers cannot: -0 shows itself in no other way."""

_OPERANDS = (TensorBase, bool, int, float)

_SIMPLE_ON_INTEGERS = {"add", "sub", "mul", "maximum", "minimum"}
"""Operators that yield integers of the same type, for all integers."""

_EXACT = 2**53
"""Smaller integers are the same number as a float."""


class ElementwiseOperation:
    """One row of the operator table on tensors; called like a function."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self._value = operator.value
        self._gradients: dict[tuple[Any, ...], _Gradients] = {}

    def __call__(self, *args: Any) -> Tensor:
        """Apply the operator to tensors and numbers. Numbers alone give a number.

        Raises:
            IndexingError: the shapes do not broadcast.
            DTypeError: the operator does not work on this element type.
            BackendMismatchError: the tensors belong to different backends.
        """
        operator = self.operator
        if len(args) != operator.arity:
            raise TypeError(
                f"{operator.name} takes {operator.arity} argument(s); {len(args)} were given."
            )
        backend = common_backend(*args)
        if backend is None:
            return operator.function(*args)  # type: ignore[no-any-return]
        operands = self._promoted(args, backend)
        shape = operands[0].shape
        for operand in operands[1:]:
            if operand.shape != shape:
                shape = shape_broadcast(shape, operand.shape)
        return self._run(operands, backend, shape, operands[-1].dtype)

    def _promoted(self, args: tuple[Any, ...], backend: TensorBackend) -> tuple[Tensor, ...]:
        """Return all arguments as tensors of the dtype of the computation."""
        for place, value in enumerate(args):  # an array is refused here, not promoted by chance
            if not isinstance(value, _OPERANDS):
                if isinstance(value, np.generic):
                    number = value.item()
                    return self._promoted((*args[:place], number, *args[place + 1 :]), backend)
                raise TypeError(
                    f"{self.operator.name} was given {value!r} of type {type(value).__name__}: "
                    "make it a tensor with mt_tensor.tensor(...)."
                )
        values = args
        if self.operator.name == "where":
            condition, values = args[0], args[1:]
            if isinstance(condition, TensorBase) and condition.dtype is not bool_:
                raise DTypeError(
                    f"the condition of where() must be bool; {condition.dtype.name} was given. "
                    "Compare first, as in x > 0."
                )
        dtype = result_type(*values)
        if not dtype.is_floating_point and (
            self.operator.result == "real" or self.operator.name in _AS_FLOATS
        ):
            dtype = float32
        check_on_bool(self.operator.name, dtype)
        operands = tuple(_as_tensor(value, dtype, backend) for value in values)
        if dtype.kind == "integer" and self.operator.name in _ON_INTEGERS:
            _ON_INTEGERS[self.operator.name](args[1], *operands)
        if len(values) < len(args):
            return (_as_tensor(args[0], bool_, backend), *operands)
        return operands

    def _run(
        self, operands: tuple[Tensor, ...], backend: TensorBackend, shape: Shape, dtype: DType
    ) -> Tensor:
        """Compute the value of operands of one dtype, and record it."""
        inputs = [operand._tensor for operand in operands]
        truth = self.operator.result == "truth"
        out = backend.compute(self._value, inputs, shape, bool_ if truth else dtype)
        result = _make(out, backend)
        if recording.enabled and dtype.is_floating_point and not truth:
            for operand in operands:
                if operand._requires_grad:
                    self.record(operands, result)
                    break
        return result

    def record(self, operands: tuple[Any, ...], result: Tensor) -> None:
        """Enter a result into the graph, with what its gradients will read."""
        needs: list[Any] = []
        inputs: list[Any] = []
        for operand in operands:
            need = operand._requires_grad
            if need is VIEW:
                need = operand.requires_grad
            needs.append(need)
            if need:
                inputs.append(operand if operand._node is None else operand._node)
        if not inputs:
            return
        gradients = self._gradients.get(tuple(needs))
        if gradients is None:
            gradients = self._gradients[tuple(needs)] = _Gradients(self.operator, tuple(needs))
        data = result._tensor
        saved = []
        changes = 0
        for position in gradients.reads:
            read = data if position == len(operands) else operands[position]._tensor
            saved.append(read)
            if read._version is not None:
                changes += read._version[0]
        node: _OperatorNode = _new(_OperatorNode)
        node.last_fn = gradients
        node.name = gradients.name
        node.saved = saved
        node.changes = changes
        connect(result, node, inputs)


class _OperatorNode(Node):
    """The node of an operator's result.

    Attributes:
        last_fn: how the gradients are computed; None once the graph has been freed.
        saved: what they will read of the arguments and the output.
        changes: how often that had been changed in place when it was saved.
    """

    __slots__ = ("changes", "saved")

    changes: int
    last_fn: Any
    saved: Sequence[TensorData]

    def chain_rule(self, derivative: Tensor) -> list[tuple[Any, Any]]:
        """Return each input with its share, summed over what was broadcast."""
        gradients, saved = self.last_fn, self.saved
        if gradients is None:
            raise self.freed()
        changes = 0
        for data in saved:
            if data._version is not None:
                changes += data._version[0]
        if changes != self.changes:
            raise changed_in_place(repr(self.name))
        if recording.enabled:
            shares = gradients.on_tensors(derivative, self._as_tensors())
        else:
            shares = gradients.computed(derivative, saved)
        pairs = []
        for parent, share in zip(self.inputs, shares, strict=True):
            whole = share._tensor.shape == parent.shape
            pairs.append((parent, share if whole else share.sum_to_size(parent.shape)))
        return pairs

    def _as_tensors(self) -> list[Tensor]:
        """Return what was saved as tensors in their places in the graph."""
        needs = self.last_fn.needs
        places = iter(self.inputs)
        variables = [next(places) if need else None for need in needs]
        variables.append(self)
        tensors = []
        for position, data in zip(self.last_fn.reads, self.saved, strict=True):
            variable = variables[position]
            if isinstance(variable, Node) or variable is None:
                tensor = _make(data, self.backend)
                tensor._node, tensor._requires_grad = variable, variable is not None
            else:
                tensor = variable
            tensors.append(tensor)
        return tensors

    def free_graph(self) -> None:
        """Forget what the gradients would read."""
        self.last_fn = None
        self.inputs = ()
        self.saved = ()


class _Gradients:
    """How the gradients of an operator come about, for one choice of arguments that want one.

    Attributes:
        needs: for each argument, whether its gradient is wanted.
        reads: which of the arguments and, last, the output the partial derivatives read. That of a
            sum, for example, reads nothing: it is 1 everywhere.
    """

    def __init__(self, operator: Operator, needs: tuple[bool, ...]) -> None:
        self.needs = needs
        self.name = operator.name
        self._operator = operator
        self._partials = [p for p, need in zip(operator.partials, needs, strict=True) if need]
        written = zip(written_partials(operator), needs, strict=True)
        words = set(re.findall(r"\w+", " ".join(text for text, need in written if need)))
        names = (*operator.parameters, "out")
        self.reads = tuple(i for i, name in enumerate(names) if name in words)
        computed = tuple(
            need and partial is not one
            for need, partial in zip(needs, operator.partials, strict=True)
        )
        self._formula = operator.gradient(computed) if any(computed) else None
        self._passed = any(partial is one for partial in self._partials)
        places = [0] * (operator.arity + 2)
        for number, position in enumerate(self.reads, start=1):
            places[position + 1] = number
        self._arranged = itemgetter(*places)
        self._on_tensors: tuple[Callable[..., Any], list[Callable[..., Any]]] | None = None

    def computed(self, grad: Tensor, saved: Sequence[TensorData]) -> list[Tensor]:
        """Return the gradients, in one pass over upstream gradient and what was saved.

        Where the derivative is 1, the gradient is the upstream gradient itself. It also stands in
        for what is not read.
        """
        if self._formula is None:
            return [grad] * len(self._partials)
        data, backend = grad._tensor, grad.backend
        inputs = self._arranged((data, *saved))
        results = backend.compute(self._formula, inputs, data.shape, data.dtype)
        if self._formula.outputs == 1:
            results = (results,)
        made = [_make(result, backend) for result in results]
        if self._passed:
            rest = iter(made)
            return [grad if partial is one else next(rest) for partial in self._partials]
        return made

    def on_tensors(self, grad: Tensor, saved: list[Tensor]) -> list[Tensor]:
        """Return the gradients, computed with tensors and so recorded."""
        if self._on_tensors is None:
            partials = [lift(partial, LIFTED) for partial in self._partials]
            self._on_tensors = lift(self._operator.share, LIFTED), partials
        share, partials = self._on_tensors
        known = [grad] * (self._operator.arity + 1)
        for position, read in zip(self.reads, saved, strict=True):
            known[position] = read
        return [share(grad, partial(*known)).to(grad.dtype) for partial in partials]


def check_on_bool(name: str, dtype: DType) -> None:
    """Raise DTypeError if an operator has no meaning on truth values."""
    if dtype is bool_ and name in _NOT_ON_BOOL:
        raise DTypeError(
            f"{name} is not defined on bool tensors; "
            f"{_NOT_ON_BOOL[name] or 'convert with x.to(...) first'}."
        )


_ON_BOOL = {f"bitwise_{name}": f"logical_{name}" for name in ("and", "or", "xor", "not")}
"""Operators of whole numbers that truth values have too, and what they are called there."""


class WholeNumberOperation(ElementwiseOperation):
    """A row of the operator table for whole numbers and truth values."""

    def __call__(self, *args: Any) -> Tensor:
        """Apply the operator; see `ElementwiseOperation.__call__`."""
        name = self.operator.name
        args = tuple(v.item() if isinstance(v, np.generic) else v for v in args)
        if all(isinstance(value, TensorBase | Number) for value in args):
            dtype = result_type(*args)
            if dtype.is_floating_point:
                raise DTypeError(
                    f"{name} works on integers and bool; {dtype.name} was given. Convert with "
                    "x.long(), or compare first, as in (x > 0) & (y > 0)."
                )
            if dtype is bool_ and name in _ON_BOOL:
                return LIFTED[_ON_BOOL[name]](*args)
        return super().__call__(*args)


def _check_integer_power(exponent: Any, *_: Tensor) -> None:
    """Raise DTypeError if an integer exponent is negative: the result would be no integer."""
    lowest = (
        exponent if isinstance(exponent, Number) else exponent.amin() if exponent.numel() else 0
    )
    if lowest < 0:
        raise DTypeError(
            f"an integer tensor cannot be raised to the negative integer {int(lowest)}: convert "
            "it first, as in x.float() ** -1."
        )


def _check_integer_divisor(given: Any, dividend: Tensor, divisor: Tensor) -> None:
    """Raise DivisionByZeroError if an integer is to be divided by zero: no integer is right."""
    if not dividend.numel():
        zero = False
    elif isinstance(given, Number):
        zero = divisor.dtype.convert(given) == 0  # 256 is zero among eight bits
    else:
        zero = bool((divisor == 0).any())
    if zero:
        raise DivisionByZeroError(
            "an integer tensor cannot be divided by zero: there is no integer infinity or nan. "
            "Convert it first, as in x.float() // y, or replace the zeros."
        )


_ON_INTEGERS: dict[str, Callable[..., None]] = {
    "pow": _check_integer_power,
    **dict.fromkeys(("floor_divide", "remainder", "fmod"), _check_integer_divisor),
}
"""Among integers, checks of the second argument as it was given, and of both as tensors."""


def _as_tensor(value: Any, dtype: DType, backend: TensorBackend) -> Tensor:
    if isinstance(value, TensorBase):
        return value._itself() if value.dtype is dtype else value.to(dtype)
    if isinstance(value, int):
        int64.checked(value)  # smaller types wrap around, as in torch
    return constant(backend, dtype, value)


LIFTED: dict[str, ElementwiseOperation] = {}
"""How tensors spell the elementary functions: each is an operator of the table."""


def _enter(row: Operator) -> None:
    kind = WholeNumberOperation if row.result == "whole" else ElementwiseOperation
    LIFTED[row.name] = kind(row)


OPERATORS.for_each(_enter)


def elementwise(name: str, *args: Any) -> Tensor:
    """Apply the operator called `name`; see `ElementwiseOperation.__call__`."""
    OPERATORS[name]  # an unknown name raises here, with the nearest one
    return LIFTED[name](*args)


def method(operator: Operator, left_to_others: bool = False) -> Callable[..., Any]:
    """Return an operator as a method: its first argument is a tensor.

    The frequent cases of one and two arguments go the shortest way, all in one function: tensors of
    one element type, or a tensor and a number of its kind. Here every tenth of a
    microsecond counts, for it is paid by each operation of every program.

    Args:
        operator: a row of the table.
        left_to_others: whether an argument that is neither tensor nor number is left to its own
            type, as Python's operators do, instead of being refused.
    """
    operation = LIFTED[operator.name]
    value, name = operator.value, operator.name
    truth = operator.result == "truth"
    direct = {"float"}  # the kinds of numbers that need no conversion and no check
    if truth:
        direct |= {"integer", "bool"}
    elif name in _SIMPLE_ON_INTEGERS:
        direct |= {"integer"}

    def unary(self: Any) -> Any:
        data = self._tensor
        dtype = data.dtype
        if truth or not dtype.is_floating_point:
            return operation(self)
        result = _make(self.backend.compute(value, (data,), data.shape, dtype), self.backend)
        if self._requires_grad and recording.enabled:
            operation.record((self,), result)
        return result

    def binary(self: Any, other: Any) -> Any:
        data = self._tensor
        dtype = data.dtype
        backend = self.backend
        if dtype.kind in direct:
            if other.__class__ is int:
                if dtype is not bool_ and -_EXACT < other < _EXACT:
                    other = constant(backend, dtype, other)
            elif other.__class__ is float and dtype.is_floating_point:
                other = constant(backend, dtype, other)
            if isinstance(other, TensorBase) and other.backend is backend:
                second = other._tensor
                if second.dtype is dtype:
                    shape = data.shape
                    if second.shape != shape:
                        shape = shape_broadcast(shape, second.shape)
                    out = backend.compute(value, (data, second), shape, bool_ if truth else dtype)
                    result = _make(out, backend)
                    wanted = self._requires_grad or other._requires_grad
                    if wanted and recording.enabled and not truth:
                        operation.record((self, other), result)
                    return result
        if left_to_others and not isinstance(other, _OPERANDS):
            if not isinstance(other, np.generic):
                return NotImplemented
            other = other.item()
        return operation(self, other)

    def general(self: Any, *others: Any) -> Any:
        return operation(self, *others)

    forms: dict[int, Callable[..., Any]] = {1: unary, 2: binary}
    whole = operator.result == "whole"  # which floats are refused by
    made = general if whole else forms.get(operator.arity, general)
    made.__name__ = name
    made.__qualname__ = f"Tensor.{name}"
    made.__doc__ = f"Element by element: {operator.note}."
    return made
