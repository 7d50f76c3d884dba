"""The operator table lifted to tensors.

Each row becomes an operation that promotes its arguments to one dtype, broadcasts them, and hands
one formula to the backend: the value going forward, all wanted gradients at once going backward.
Under `create_graph` each gradient is such an operation itself, and so recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_autodiff.extending import recording
from mt_operators import OPERATORS, Operator
from mt_tensor.arguments import check_not_bool
from mt_tensor.backends.computing import Computing
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import (
    DType,
    Number,
    as_number,
    bool_,
    float16,
    get_default_dtype,
    int64,
    is_half,
    plain,
    result_type,
    uint64,
)
from mt_tensor.errors import DivisionByZeroError, DTypeError
from mt_tensor.layout import row_major
from mt_tensor.pointwise.gradients import Recorder
from mt_tensor.public import function
from mt_tensor.recording.function import common_backend
from mt_tensor.strides import Shape, shape_broadcast
from mt_tensor.tensor import Tensor, constant

_make = Tensor._make

OPERANDS = (Tensor, bool, int, float)
"""What an operator of tensors takes."""

_PLAIN_NUMBERS = {int, float}
"""The numbers that take the type of floating-point tensors beside them."""


class ElementwiseOperation:
    """One row of the operator table on tensors; called like a function."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.computing = Computing(operator.value)
        self._chooses = operator.chooses  # by its first argument, a condition
        self.record = Recorder(operator, ElementwiseOperation)

    def __call__(self, *args: Any) -> Tensor:
        """Apply the operator to tensors and numbers. Numbers alone give a number.

        Raises:
            TypeError: something is neither.
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
            return operator.function(*(as_number("an operand", arg) for arg in args))  # type: ignore[no-any-return]
        operands = self._alike(args, backend)
        if operands is None:
            if self._has_finer_numbers(args):
                halves = [arg.to(float16) if isinstance(arg, Tensor) else arg for arg in args]
                wide = [arg.float() if isinstance(arg, Tensor) else arg for arg in halves]
                return self(*wide).to(float16)
            operands = self._promoted(args, backend)
        shape = operands[0].shape
        for operand in operands[1:]:
            if operand.shape != shape:
                shape = shape_broadcast(shape, operand.shape)
        return self._run(operands, backend, shape, operands[-1].dtype)

    def _alike(self, args: tuple[Any, ...], backend: TensorBackend) -> tuple[Any, ...] | None:
        """Return arguments that need no promotion, numbers as tensors; None if there are others.

        These are floating-point tensors of one type, numbers, and a condition of bool.
        """
        dtype: DType | None = None
        for value in args[1:] if self._chooses else args:
            if isinstance(value, Tensor):
                own = value._tensor.dtype
                if dtype is None:
                    dtype = own
                elif own is not dtype:
                    return None
            elif value.__class__ not in _PLAIN_NUMBERS:
                return None
        if dtype is None or not dtype.is_floating_point or dtype is float16:
            return None
        if self._chooses and getattr(args[0], "dtype", None) is not bool_:
            return None
        return tuple(
            [arg if isinstance(arg, Tensor) else _as_tensor(arg, dtype, backend) for arg in args]
        )

    def _has_finer_numbers(self, args: tuple[Any, ...]) -> bool:
        """Whether to compute in float32 what is float16, for there are numbers that it rounds.

        Comparisons and choices take such a number as an element would be, rounded.
        """
        if self._chooses or self.operator.result == "truth":
            return False
        numbers = [arg for arg in map(plain, args) if not isinstance(arg, Tensor)]
        return (
            len(numbers) < len(args)
            and any(isinstance(arg, Tensor) and arg.dtype is float16 for arg in args)
            and all(isinstance(number, Number) for number in numbers)
            and not all(map(is_half, numbers))
            and result_type(*args) is float16
        )

    def _promoted(self, args: tuple[Any, ...], backend: TensorBackend) -> tuple[Tensor, ...]:
        """Return all arguments as tensors of the dtype of the computation."""
        args = tuple(map(plain, args))
        for value in args:  # an array is refused here, not promoted by chance
            if not isinstance(value, OPERANDS):
                raise TypeError(
                    f"{self.operator.name} was given {value!r} of type {type(value).__name__}: "
                    "make it a tensor with mt_tensor.tensor(...)."
                )
        values = args
        if self._chooses:
            condition, values = args[0], args[1:]
            if isinstance(condition, Tensor) and condition.dtype is not bool_:
                raise DTypeError(
                    f"the condition of where() must be bool; {condition.dtype.name} was given. "
                    "Compare first, as in x > 0."
                )
        dtype = result_type(*values)
        operator = self.operator
        if not dtype.is_floating_point and (
            operator.result == "real" or not operator.takes_integers
        ):
            dtype = get_default_dtype()
        check_on_bool(operator, dtype)
        if self._chooses and dtype.kind == "integer":
            for value in values:
                if isinstance(value, Number):
                    dtype.checked(value)
        operands = tuple(_as_tensor(value, dtype, backend) for value in values)
        if dtype.kind == "integer" and operator.name in ON_INTEGERS:
            ON_INTEGERS[operator.name](args[1], *operands)
        if len(values) < len(args):
            return (_as_tensor(args[0], bool_, backend), *operands)
        return operands

    def _run(
        self, operands: tuple[Tensor, ...], backend: TensorBackend, shape: Shape, dtype: DType
    ) -> Tensor:
        """Compute the value of operands of one dtype, and record it."""
        inputs = [operand._tensor for operand in operands]
        truth = self.operator.result == "truth"
        out = self.computing[backend](row_major(shape, bool_ if truth else dtype), *inputs)
        result = _make(out, backend)
        if recording.get() and dtype.is_floating_point and not truth:
            self.record(operands, result)
        return result


def check_on_bool(operator: Operator, dtype: DType) -> None:
    """Raise DTypeError if an operator has no meaning on truth values."""
    if dtype is bool_ and not operator.takes_bool:
        instead = operator.for_bool
        check_not_bool(operator.name, dtype, f"use {instead}" if instead else "")


class WholeNumberOperation(ElementwiseOperation):
    """A row of the operator table for whole numbers and truth values."""

    def __call__(self, *args: Any) -> Tensor:
        """Apply the operator; see `ElementwiseOperation.__call__`."""
        name = self.operator.name
        args = tuple(map(plain, args))
        if all(isinstance(value, OPERANDS) for value in args):
            dtype = result_type(*args)
            if dtype.is_floating_point:
                raise DTypeError(
                    f"{name} works on integers and bool; {dtype.name} was given. Convert with "
                    "x.long(), or compare first, as in (x > 0) & (y > 0)."
                )
            if dtype is bool_ and self.operator.for_bool:
                return OPERATIONS[self.operator.for_bool](*args)
        return super().__call__(*args)


def _check_integer_power(exponent: Any, base: Tensor, _: Tensor) -> None:
    """Raise DTypeError if an integer exponent does not fit, or would lead to no integer."""
    if isinstance(exponent, int):
        base.dtype.checked(exponent)
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


ON_INTEGERS: dict[str, Callable[..., None]] = {
    "pow": _check_integer_power,
    **dict.fromkeys(("floor_divide", "remainder", "fmod"), _check_integer_divisor),
}
"""Among integers, checks of the second argument as it was given, and of both as tensors."""


def _as_tensor(value: Any, dtype: DType, backend: TensorBackend) -> Tensor:
    if isinstance(value, Tensor):
        return value if value.dtype is dtype else value.to(dtype)
    if isinstance(value, int) and abs(value) >> 63:  # smaller types wrap around, as in torch
        (uint64 if dtype is uint64 else int64).checked(value)
    return constant(backend, dtype, value)


OPERATIONS: dict[str, ElementwiseOperation] = {}
"""The operation of each row, by its name."""


def _enter(row: Operator) -> None:
    kind = WholeNumberOperation if row.result == "whole" else ElementwiseOperation
    OPERATIONS[row.name] = kind(row)


OPERATORS.for_each(_enter)


@function
def elementwise(name: str, *args: Any) -> Tensor:
    """Apply the operator called `name`; see `ElementwiseOperation.__call__`."""
    OPERATORS[name]  # an unknown name raises here, with the nearest one
    return OPERATIONS[name](*args)
