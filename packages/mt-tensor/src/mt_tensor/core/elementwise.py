"""The operator table on tensors.

Each row becomes an operation that promotes its arguments to one dtype, broadcasts them, and gives
one formula to the backend: forward, the value; backward, all wanted gradients at once, as
`elementwise_gradients.py` has it. Under `create_graph` each gradient is such an operation itself.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from mt_autodiff.core.mode import recording
from mt_operators import OPERATORS, Operator
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtype_rules import DTypeRules, dtype_rules_of
from mt_tensor.core.dtypes import (
    DTYPES,
    DType,
    Number,
    as_number,
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
from mt_tensor.core.layout import row_major
from mt_tensor.core.operands import common_backend
from mt_tensor.core.plans import Cache, Plans
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.core.tensor import Tensor

_make = Tensor._make

OPERANDS = (Tensor, bool, int, float)
"""What an operator of tensors takes."""


class SignaturePlans(Cache):
    """The plans of an operator by signature: for a backend and layouts, what computes the value.

    A signature has none, which is remembered as None, if its arguments must first be converted, or
    checked at each call.
    """

    def __init__(self, operator: Operator, plans: Plans) -> None:
        super().__init__()
        self.operator, self.plans = operator, plans

    @functools.cached_property
    def dtypes(self) -> set[DType]:
        """The dtypes of arguments that need no conversion."""
        operator, rules = self.operator, dtype_rules_of(self.operator)
        categories = set() if operator.result == "integer" else {"float"}
        if operator.result != "real" and rules.takes_integers and rules.closed:
            categories.add("integer")
        if operator.result == "bool" and rules.takes_bool:
            categories.add("bool")
        dtypes = {dtype for dtype in DTYPES.values() if dtype.kind in categories}
        if not rules.closed or operator.result == "real" or operator.arity > 2:
            # Autocast may convert these.
            dtypes = {dtype for dtype in dtypes if not dtype.is_narrow}
        return dtypes

    def make(self, key: tuple[Any, ...]) -> Callable[..., Any] | None:
        """Plan a signature.

        Raises:
            IndexingError: the shapes do not broadcast.
        """
        backend, *layouts = key
        chooses = dtype_rules_of(self.operator).chooses
        of_one_dtype = layouts[1:] if chooses else layouts
        dtype, shape = of_one_dtype[0].dtype, layouts[0].shape
        if (
            dtype not in self.dtypes
            or any(layout.dtype is not dtype for layout in of_one_dtype)
            or (chooses and layouts[0].dtype is not bool_)
        ):
            return None
        for layout in layouts[1:]:
            if layout.shape != shape:
                shape = shape_broadcast(shape, layout.shape)
        out = row_major(shape, bool_ if self.operator.result == "bool" else dtype)
        return self.plans[backend, out, *layouts]  # type: ignore[no-any-return]


class ElementwiseOperation:
    """One row of the operator table on tensors; called like a function.

    Attributes:
        operator: the row.
        arity: the number of its arguments.
        looks_up: whether a call looks for a plan; the functions of rows with one or two arguments
            have done so before (`rows.py`).
        plans: how each backend computes its value.
        planned: the functions for signatures that need nothing else.
        record: enters results into the graph.
    """

    def __init__(self, operator: Operator) -> None:
        self.operator, self.arity = operator, operator.arity
        self.looks_up = self.arity > 2 or OPERATORS.get(operator.name) is not operator
        self.plans = Plans(operator.value)
        self.planned = SignaturePlans(operator, self.plans)
        self.record = recorder(operator)

    @functools.cached_property
    def rules(self) -> DTypeRules:
        """The operator's dtype rules."""
        return dtype_rules_of(self.operator)

    def __call__(self, *args: Any) -> Tensor:
        """Apply the operator to tensors and numbers. Numbers alone give a number.

        Raises:
            TypeError: something is neither.
            IndexingError: the shapes do not broadcast.
            DTypeError: the operator does not work on this dtype.
            BackendMismatchError: the tensors belong to different backends.
        """
        operator = self.operator
        if len(args) != self.arity:
            raise TypeError(
                f"{operator.name} takes {operator.arity} argument(s); {len(args)} were given."
            )
        result = self._planned(args) if self.looks_up else None
        if result is not None:
            return result
        backend = common_backend(*args)
        if backend is None:
            return operator.function(*(as_number("an operand", arg) for arg in args))  # type: ignore[no-any-return]
        dtype = _common_type(args[1:] if self.rules.chooses else args)
        if dtype is None or operator.result == "integer":
            args = tuple(map(plain, args))
            dtype = self._computation_type(args)
        if dtype is bool_ and operator.result == "integer" and self.rules.for_bool:
            return OPERATIONS[self.rules.for_bool](*args)
        check_on_bool(operator, dtype)
        operands = self._operands(args, dtype, backend)
        if dtype.is_narrow and "operands of 16 bits" in EXTENSIONS:
            wider: Tensor | None = EXTENSIONS["operands of 16 bits"](self, args, operands)
            if wider is not None:
                return wider
        shape = operands[0].shape
        for operand in operands[1:]:
            if operand.shape != shape:
                shape = shape_broadcast(shape, operand.shape)
        is_bool = operator.result == "bool"
        out = row_major(shape, bool_ if is_bool else dtype)
        inputs = [operand._tensor for operand in operands]
        value = self.plans[backend, out, *[data.layout for data in inputs]](*inputs)
        result = _make(value, backend)
        if recording.get() and dtype.is_floating_point and not is_bool:
            self.record(operands, (*inputs, value), result)
        return result

    def _planned(self, args: tuple[Any, ...]) -> Tensor | None:
        """Return the result for tensors, and numbers of their kind, whose signature has a plan."""
        model = None
        for value in args[1:] if self.rules.chooses else args:
            if isinstance(value, Tensor):
                model = value
                break
        else:
            return None
        backend, exact = model.backend, model._tensor.layout.dtype.kind == "integer"
        operands, recorded = [], False
        for value in args:
            x = value if value.__class__ is Tensor else alike(value, model)
            if x is None or x.backend is not backend or (exact and x is not value):
                return None  # integers must be in range
            operands.append(x)
            recorded = recorded or bool(x._requires_grad)
        inputs = [x._tensor for x in operands]
        run = self.planned[(backend, *[data.layout for data in inputs])]
        if run is None:
            return None
        value = run(*inputs)
        result = _make(value, backend)
        if recorded and recording.get() and self.operator.result != "bool":
            self.record(tuple(operands), (*inputs, value), result)
        return result

    def _computation_type(self, args: tuple[Any, ...]) -> DType:
        """Return the dtype that the operator computes these arguments in."""
        operator = self.operator
        for value in args:  # an array is refused here, not promoted by chance
            if not isinstance(value, OPERANDS):
                raise TypeError(
                    f"{operator.name} was given {value!r} of type {type(value).__name__}: "
                    "make it a tensor with mt_tensor.tensor(...)."
                )
        dtype = result_type(*args[1:] if self.rules.chooses else args)
        if operator.result == "integer" and dtype.is_floating_point:
            raise DTypeError(
                f"{operator.name} works on integers and bool; {dtype.name} was given. Convert "
                "with x.long(), or compare first, as in (x > 0) & (y > 0)."
            )
        if dtype.is_floating_point or (self.rules.takes_integers and operator.result != "real"):
            return dtype
        return get_default_dtype()

    def _operands(
        self, args: tuple[Any, ...], dtype: DType, backend: TensorBackend
    ) -> tuple[Tensor, ...]:
        """Return all arguments as tensors of a dtype, but a condition as one of bool."""
        if self.rules.chooses:
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


def _common_type(values: tuple[Any, ...]) -> DType | None:
    """Return the one dtype of floating-point tensors among plain numbers; None if it is not so."""
    types = {value.dtype if isinstance(value, Tensor) else value.__class__ for value in values}
    types -= _PLAIN_NUMBERS
    if len(types) != 1:
        return None
    (dtype,) = types
    return dtype if isinstance(dtype, DType) and dtype.is_floating_point else None


_PLAIN_NUMBERS = {int, float}
"""The numbers that take the type of floating-point tensors beside them."""


def check_on_bool(operator: Operator, dtype: DType) -> None:
    """Raise DTypeError if an operator has no meaning on bools."""
    rules = dtype_rules_of(operator)
    if dtype is bool_ and not rules.takes_bool:
        instead = rules.for_bool
        check_not_bool(operator.name, dtype, f"use {instead}" if instead else "")


def _as_tensor(value: Any, dtype: DType, backend: TensorBackend) -> Tensor:
    if isinstance(value, Tensor):
        return cast(value, dtype)
    if isinstance(value, int) and abs(value) >> 63:  # smaller types wrap around, as in torch
        (uint64 if dtype is uint64 else int64).checked(value)
    return constant(backend, dtype, value)


def alike(value: Any, other: Any) -> Tensor | None:
    """Return a number as a tensor of the other operand's dtype, or None if that would change it.

    A tensor is returned as it is.
    """
    kind = value.__class__
    if (kind is not float and kind is not int) or not isinstance(other, Tensor):
        return value if isinstance(value, Tensor) else None
    dtype = other._tensor.layout.dtype
    if kind is float:
        fits = dtype.is_floating_point
    else:
        fits = dtype is not bool_ and -(2**53) < value < 2**53  # else a float would be another
    if not fits or (dtype.is_narrow and not EXTENSIONS["is exact"](value, dtype)):
        return None
    key = (other.backend, dtype, value)
    return _CONSTANTS[key] if value else constant(*key)


def constant(backend: TensorBackend, dtype: DType, value: Number) -> Tensor:
    """Return a number as a 0-dimensional tensor, which must not be changed: it may be shared."""
    key = (backend, dtype, value)
    if value or math.copysign(1.0, value) > 0.0:
        return _CONSTANTS[key]  # type: ignore[no-any-return]
    return _CONSTANTS.make(key)  # of -0.0, which equals 0.0, yet differs


class Constants(Cache):
    """Numbers as tensors, by backend, dtype and value: the same tensor each time."""

    def make(self, key: tuple[TensorBackend, DType, Number]) -> Tensor:
        """Return a number as a 0-dimensional tensor."""
        backend, dtype, value = key
        return _make(backend.full((), dtype, value), backend)


_CONSTANTS = Constants()


OPERATIONS: dict[str, ElementwiseOperation] = {}
"""The operation of each row, by its name."""


def _enter(row: Operator) -> None:
    OPERATIONS[row.name] = ElementwiseOperation(row)


OPERATORS.for_each(_enter)


def elementwise(name: str, *args: Any) -> Tensor:
    """Apply the operator called `name`; see `ElementwiseOperation.__call__`."""
    if name not in OPERATIONS:
        OPERATORS[name]  # raises, with the nearest name
    return OPERATIONS[name](*args)
