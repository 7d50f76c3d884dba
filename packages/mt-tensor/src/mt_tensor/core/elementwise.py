"""The operator table on tensors.

Each row becomes an operation that promotes its arguments to one dtype, broadcasts them, and runs
one formula on the backend: the value in the forward pass, and all needed gradients together in the
backward pass (`elementwise_gradients.py`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from mt_autodiff.core.mode import recording
from mt_operators import OPERATORS, Operator
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtype_rules import DTypeRules, dtype_rules_of
from mt_tensor.core.dtypes import (
    DType,
    Number,
    NumberLike,
    bool_,
    get_default_dtype,
    int64,
    plain,
    result_type,
    uint64,
)
from mt_tensor.core.elementwise_gradients import recorder
from mt_tensor.core.errors import DTypeError
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.layout import Layout, row_major
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.plans import Cache, Plans
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData

_make = Tensor._make

OPERANDS = (Tensor, bool, int, float)
"""The types of operands that operators accept."""


class SignaturePlans(Cache):
    """Cached plans of an operator, keyed by the backend and the layouts of its arguments.

    The value is None if the arguments must be converted first, or checked at each call.
    """

    def __init__(self, operation: ElementwiseOperation) -> None:
        super().__init__()
        self.operation = operation

    def make(self, key: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Plan a signature.

        Raises:
            IndexingError: the shapes do not broadcast.
            DTypeError: the operator does not work on these dtypes.
        """
        backend, *layouts = key
        operator, rules = self.operation.operator, self.operation.rules
        values = layouts[1:] if rules.has_condition else layouts
        dtype = self.operation.dtype_of(values)
        may_be_widened = operator.result == "real" or operator.arity > 2  # under `autocast`
        if (
            any(layout.dtype is not dtype for layout in values)
            or (rules.has_condition and layouts[0].dtype is not bool_)
            or (dtype is bool_ and (rules.bool_operator or not rules.takes_bool))
            or (not rules.closed and (dtype.kind == "integer" or dtype.is_narrow))
            or (dtype.is_narrow and may_be_widened)
        ):
            return None
        return self.operation.plan(backend, layouts, dtype)


class ElementwiseOperation:
    """A row of the operator table as a callable operation on tensors.

    Attributes:
        operator: the row.
        arity: the number of its arguments.
        rules: its dtype rules.
        plans: the plans of its value, for each backend and signature.
        planned: plans for signatures that need no conversion or check.
        record: records a result in the graph.
    """

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.arity = operator.arity
        self.plans = Plans(operator.value)
        self.planned = SignaturePlans(self)
        self.record = recorder(operator)

    @functools.cached_property
    def rules(self) -> DTypeRules:
        """The operator's dtype rules."""
        return dtype_rules_of(self.operator)

    def __call__(self, *args: Any) -> Tensor:
        """Apply the operator to tensors and numbers, at least one of which is a tensor.

        Raises:
            TypeError: an argument is missing or neither a tensor nor a number, or none is a tensor.
            IndexingError: the shapes do not broadcast.
            DTypeError: the operator does not work on the promoted dtype.
            BackendMismatchError: the tensors belong to different backends.
        """
        operator = self.operator
        if len(args) != self.arity:
            raise TypeError(
                f"{operator.name}() takes {self.arity} argument(s); {len(args)} were given."
            )
        result = self._planned(args)
        if result is not None:
            return result
        args = tuple(map(plain, args))
        if not any(isinstance(arg, Tensor) for arg in args):
            require_tensors(operator.name, *args)
        for value in args:  # reject arrays instead of promoting them silently
            if not isinstance(value, OPERANDS):
                raise TypeError(
                    f"{operator.name}() was given {value!r} of type {type(value).__name__}: "
                    "make it a tensor with mt_tensor.tensor(...)."
                )
        backend = common_backend(*args)
        dtype = self.dtype_of(args[1:] if self.rules.has_condition else args)
        if dtype is bool_ and operator.result == "integer" and self.rules.bool_operator:
            return OPERATIONS[self.rules.bool_operator](*args)
        check_on_bool(operator, dtype)
        operands = self._operands(args, dtype, backend)
        if dtype.is_narrow and "operands of 16 bits" in EXTENSIONS:
            wider: Tensor | None = EXTENSIONS["operands of 16 bits"](self, args, operands)
            if wider is not None:
                return wider
        inputs = [operand._tensor for operand in operands]
        run = self.plan(backend, [data.layout for data in inputs], dtype)
        return self._run(run, operands, inputs)

    def _planned(self, args: tuple[Any, ...]) -> Tensor | None:
        """Return the result if the arguments need no conversion or check, else None."""
        for model in args[1:] if self.rules.has_condition else args:
            if isinstance(model, Tensor):
                break
        else:
            return None
        backend = model.backend
        exact = model._tensor.layout.dtype.kind == "integer"  # numbers need a range check
        operands, inputs = [], []
        key: list[Any] = [backend]
        for arg in args:
            x = arg if arg.__class__ is Tensor else as_tensor_like(arg, model)
            if x is None or x.backend is not backend or (exact and x is not arg):
                return None
            data = x._tensor
            operands.append(x)
            inputs.append(data)
            key.append(data.layout)
        run = self.planned[tuple(key)]
        return None if run is None else self._run(run, operands, inputs)

    def dtype_of(self, values: Sequence[Any]) -> DType:
        """Return the dtype of the computation for tensors (or layouts) and numbers."""
        dtype = result_type(*values)
        if self.operator.result == "integer" and dtype.is_floating_point:
            also, advice = " and bool", ", or compare first, as in (x > 0) & (y > 0)"
            if not self.rules.takes_bool:
                also = advice = ""
            raise DTypeError(
                f"{self.operator.name}() works on integers{also}; {dtype.name} was given. Convert "
                f"with x.long(){advice}."
            )
        takes_integers = self.rules.takes_integers and self.operator.result != "real"
        return dtype if dtype.is_floating_point or takes_integers else get_default_dtype()

    def plan(self, backend: Any, layouts: Sequence[Layout], dtype: DType) -> Callable[..., Any]:
        """Return the function that computes the operator for arguments of these layouts."""
        shape = functools.reduce(shape_broadcast, [layout.shape for layout in layouts])
        out = row_major(shape, bool_ if self.operator.result == "bool" else dtype)
        return self.plans[backend, out, *layouts]  # type: ignore[no-any-return]

    def _run(
        self, run: Callable[..., Any], operands: Sequence[Tensor], inputs: Sequence[TensorData]
    ) -> Tensor:
        """Run a plan, and record its result."""
        value = run(*inputs)
        result = _make(value, operands[0].backend)
        if recording.get() and value.layout.dtype.is_floating_point:
            self.record(operands, (*inputs, value), result)
        return result

    def _operands(self, args: tuple[Any, ...], dtype: DType, backend: Any) -> tuple[Tensor, ...]:
        """Convert all arguments to tensors of a dtype, and a condition to bool."""
        if self.rules.has_condition:
            condition, *values = args
            if isinstance(condition, Tensor) and condition.dtype is not bool_:
                raise DTypeError(
                    f"the condition of where() must be bool; {condition.dtype.name} was given. "
                    "Compare first, as in x > 0."
                )
            for value in values:
                if dtype.kind == "integer" and isinstance(value, Number):
                    dtype.checked(value)
            first = _as_tensor(condition, bool_, backend)
            return first, *[_as_tensor(value, dtype, backend) for value in values]
        operands = tuple([_as_tensor(arg, dtype, backend) for arg in args])
        if dtype.kind == "integer" and not self.rules.closed and "check of integers" in EXTENSIONS:
            EXTENSIONS["check of integers"](operands[0], self.operator.name, args[1], operands[1])
        return operands


def check_on_bool(operator: Operator, dtype: DType) -> None:
    """Raise DTypeError if an operator does not support bool."""
    rules = dtype_rules_of(operator)
    if dtype is bool_ and not rules.takes_bool:
        instead = rules.bool_operator
        check_not_bool(operator.name, dtype, f"use {instead}" if instead else "")


def _as_tensor(value: Any, dtype: DType, backend: TensorBackend) -> Tensor:
    if isinstance(value, Tensor):
        return cast(value, dtype)
    if isinstance(value, int) and abs(value) >> 63:  # smaller integers wrap around, as in torch
        (uint64 if dtype is uint64 else int64).checked(value)
    return constant(backend, dtype, value)


def as_tensor_like(value: Any, other: Any) -> Tensor | None:
    """Convert a number to a tensor of another operand's dtype, or return None if that is inexact.

    Tensors are returned unchanged.
    """
    kind = value.__class__
    if (kind is not float and kind is not int) or not isinstance(other, Tensor):
        if isinstance(value, NumberLike) and isinstance(other, Tensor):
            return value.as_tensor_like(other)  # type: ignore[no-any-return]
        return value if isinstance(value, Tensor) else None
    dtype = other._tensor.layout.dtype
    if kind is float:
        fits = dtype.is_floating_point
    else:
        fits = dtype is not bool_ and -(2**53) < value < 2**53  # exact as a float
    if not fits or (dtype.is_narrow and not EXTENSIONS["is exact"](value, dtype)):
        return None
    key = (other.backend, dtype, value)
    return _CONSTANTS[key] if value else constant(*key)


def constant(backend: TensorBackend, dtype: DType, value: Number) -> Tensor:
    """Return a number as a 0-dimensional tensor, which is shared and must not be changed."""
    key = (backend, dtype, value)
    if value or math.copysign(1.0, value) > 0.0:
        return _CONSTANTS[key]  # type: ignore[no-any-return]
    return _CONSTANTS.make(key)  # -0.0, which equals 0.0 as a key


class Constants(Cache):
    """Cache of numbers as tensors, keyed by backend, dtype and value."""

    def make(self, key: tuple[TensorBackend, DType, Number]) -> Tensor:
        """Return a number as a 0-dimensional tensor."""
        backend, dtype, value = key
        data = backend.full((), dtype, value)
        data._version = UNCHANGED
        return _make(data, backend)


UNCHANGED: Any = (0,)
"""The version of all constants: a tuple, so that it cannot change; programs recognize it."""

_CONSTANTS = Constants()


OPERATIONS: dict[str, ElementwiseOperation] = {}
"""The operation of each row, by its name."""


def _register(row: Operator) -> None:
    OPERATIONS[row.name] = ElementwiseOperation(row)


OPERATORS.for_each(_register)


def elementwise(name: str, *args: Any) -> Tensor:
    """Apply the operator called `name` to tensors and numbers, at least one of them a tensor."""
    if name not in OPERATIONS:
        OPERATORS[name]  # raises an error that suggests the nearest name
    return OPERATIONS[name](*args)
