"""The operator table lifted to tensors.

Each row becomes an operation that promotes its arguments to one dtype, broadcasts them, and hands
one formula to the backend: the value going forward, all wanted gradients at once going backward.
Under `create_graph` the partial derivatives run on tensors instead and record themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mt_autodiff import Context, is_grad_enabled
from mt_operators import OPERATORS, Operator, lift
from mt_operators.elementary import ROUNDING
from mt_operators.written import written_partials
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import DType, Number, bool_, float32, int64, result_type
from mt_tensor.errors import DivisionByZeroError, DTypeError
from mt_tensor.function import changed_in_place, common_backend, record
from mt_tensor.strides import shape_broadcast
from mt_tensor.tensor_base import TensorBase
from mt_tensor.tensor_data import TensorData

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor

_NOT_ON_BOOL = {
    "neg": "use logical_not",
    "sub": "use ne",
    **dict.fromkeys(("pow", "abs", "relu", *ROUNDING), ""),
    **dict.fromkeys(("floor_divide", "remainder", "fmod", "gcd", "lcm"), ""),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), ""),
}
"""Operators that truth values do not have, as in torch, and what to use instead."""


class ElementwiseOperation:
    """One row of the operator table on tensors; called like a function."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self._partials_on_tensors: list[Callable[..., Any]] | None = None
        self._reads: dict[tuple[bool, ...], tuple[int, ...]] = {}

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
        dtype = bool_ if operator.result == "truth" else operands[-1].dtype
        out = backend.allocate(shape, dtype)
        views = [operand._tensor.expand(shape) for operand in operands]
        backend.elementwise(operator.value, views, (out,))
        result = TensorBase._make(out, backend)
        if is_grad_enabled() and dtype.is_floating_point:
            needs = tuple([operand._requires_grad for operand in operands])
            if any(needs):
                ctx = Context(needs)
                ctx.save_for_backward(operands, out, self._versions(needs, operands, out))
                record(self, ctx, operands, result, operator.name)
        return result

    def _promoted(self, args: tuple[Any, ...], backend: TensorBackend) -> tuple[Tensor, ...]:
        """Return all arguments as tensors of the dtype of the computation."""
        for value in args:  # a NumPy scalar or an array is refused here, not promoted by chance
            if not isinstance(value, TensorBase | Number):
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
        if self.operator.result == "real" and not dtype.is_floating_point:
            dtype = float32
        check_on_bool(self.operator.name, dtype)
        operands = tuple(_as_tensor(value, dtype, backend) for value in values)
        if dtype.kind == "integer" and self.operator.name in _ON_INTEGERS:
            _ON_INTEGERS[self.operator.name](args[1], operands[1])
        if len(values) < len(args):
            return (_as_tensor(args[0], bool_, backend), *operands)
        return operands

    def backward(self, ctx: Context, grad: Tensor, /) -> tuple[Tensor | None, ...]:
        """Return the gradient for each argument, summed over what was broadcast."""
        operands, out, saved = ctx.saved_values
        if self._versions(ctx.needs_input_grad, operands, out) != saved:
            raise changed_in_place(repr(self.operator.name))
        if is_grad_enabled():
            grads = self._recorded_gradients(ctx.needs_input_grad, grad, operands)
        else:
            grads = self._fused_gradients(ctx.needs_input_grad, grad, operands, out)
        return tuple(
            None if each is None else each.sum_to_size(operand.shape)
            for each, operand in zip(grads, operands, strict=True)
        )

    def _versions(
        self, needs: tuple[bool, ...], operands: tuple[Tensor, ...], out: TensorData
    ) -> tuple[int, ...]:
        """Return the versions of what the gradients will read."""
        known = (*(operand._tensor for operand in operands), out)
        return tuple(known[position].version for position in self._read_for(needs))

    def _read_for(self, needs: tuple[bool, ...]) -> tuple[int, ...]:
        """Return which of the arguments and, last, the output the needed gradients read.

        The derivative of a sum, for example, reads nothing: it is 1 everywhere.
        """
        if needs not in self._reads:
            partials = zip(written_partials(self.operator), needs, strict=True)
            text = " ".join(partial for partial, need in partials if need)
            names = (*self.operator.parameters, "out")
            words = set(re.findall(r"\w+", text))
            self._reads[needs] = tuple(i for i, name in enumerate(names) if name in words)
        return self._reads[needs]

    def _fused_gradients(
        self,
        needs: tuple[bool, ...],
        grad: Tensor,
        operands: tuple[Tensor, ...],
        out: TensorData,
    ) -> list[Tensor | None]:
        """One pass of the backend over upstream gradient, arguments and output."""
        backend, shape = grad.backend, out.shape
        outputs = [backend.allocate(shape, out.dtype) if need else None for need in needs]
        inputs = [grad._tensor, *(operand._tensor.expand(shape) for operand in operands), out]
        wanted = [output for output in outputs if output is not None]
        backend.elementwise(self.operator.gradient(needs), inputs, wanted)
        return [None if output is None else grad._with(output) for output in outputs]

    def _recorded_gradients(
        self, needs: tuple[bool, ...], grad: Tensor, operands: tuple[Tensor, ...]
    ) -> list[Tensor | None]:
        """The partial derivatives run on tensors, so that they can be differentiated again."""
        if self._partials_on_tensors is None:
            self._partials_on_tensors = [lift(p, LIFTED) for p in self.operator.partials]
            self._share_on_tensors = lift(self.operator.share, LIFTED)
        known = (*operands, self(*operands))
        return [
            self._share_on_tensors(grad, partial(*known)).to(grad.dtype) if need else None
            for need, partial in zip(needs, self._partials_on_tensors, strict=True)
        ]


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


def _check_integer_power(exponent: Any, _: Tensor) -> None:
    """Raise DTypeError if an integer exponent is negative: the result would be no integer."""
    lowest = (
        exponent if isinstance(exponent, Number) else exponent.amin() if exponent.numel() else 0
    )
    if lowest < 0:
        raise DTypeError(
            f"an integer tensor cannot be raised to the negative integer {int(lowest)}: convert "
            "it first, as in x.float() ** -1."
        )


def _check_integer_divisor(given: Any, divisor: Tensor) -> None:
    """Raise DivisionByZeroError if an integer is to be divided by zero: no integer is right."""
    if isinstance(given, Number):
        zero = divisor.dtype.convert(given) == 0  # 256 is zero among eight bits
    else:
        zero = bool((divisor == 0).any())
    if zero:
        raise DivisionByZeroError(
            "an integer tensor cannot be divided by zero: there is no integer infinity or nan. "
            "Convert it first, as in x.float() // y, or replace the zeros."
        )


_ON_INTEGERS: dict[str, Callable[[Any, Tensor], None]] = {
    "pow": _check_integer_power,
    **dict.fromkeys(("floor_divide", "remainder", "fmod"), _check_integer_divisor),
}
"""Among integers, checks of an operator's second argument: as it was given, and as a tensor."""


def _as_tensor(value: Any, dtype: DType, backend: TensorBackend) -> Tensor:
    if isinstance(value, TensorBase):
        return value._itself() if value.dtype is dtype else value.to(dtype)
    if isinstance(value, int):
        int64.checked(value)  # smaller types wrap around, as in torch
    return TensorBase._make(backend.full((), dtype, value), backend)


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
