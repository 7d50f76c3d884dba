"""Changing tensors in place: what is allowed, and how memory that overlaps is handled.

Most in-place forms are the operation itself, whose result replaces the elements. A few that
training needs often compute in the tensor's own memory.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from mt_autodiff import is_grad_enabled
from mt_operators import OPERATORS, Operator
from mt_tensor.arguments import check_flags
from mt_tensor.dtypes import (
    Number,
    float64,
    get_default_dtype,
    is_exact,
    plain,
    result_type,
)
from mt_tensor.errors import DTypeError, InPlaceError, ShapeError
from mt_tensor.library.memory import are_apart, overlaps
from mt_tensor.library.pointwise.choosing import single
from mt_tensor.library.pointwise.functions import scaled
from mt_tensor.library.pointwise.integers import RoundingMode
from mt_tensor.library.recording.aliasing import Instead
from mt_tensor.pointwise.elementwise import (
    OPERANDS,
    OPERATIONS,
    check_on_bool,
    constant,
    elementwise,
)
from mt_tensor.pointwise.facts import facts_of
from mt_tensor.public import method
from mt_tensor.recording.function import common_backend
from mt_tensor.strides import shape_broadcast
from mt_tensor.tensor import Tensor
from mt_tensor.tensor_data import TensorData


def _same_view(a: TensorData, b: TensorData) -> bool:
    return (
        a.shape == b.shape
        and a.strides == b.strides
        and a.offset == b.offset
        and a.dtype is b.dtype
        and a.storage is b.storage
    )


@method
def _check_in_place(self: Tensor, *others: Any) -> bool:
    """Return whether a change in place of this tensor, with others, is to be recorded.

    Raises:
        InPlaceError: a change of one element would change several, or gradients cannot follow.
    """
    in_rows = self._tensor.layout.row_major or self.is_contiguous()
    if not in_rows and overlaps(self.shape, self.stride()):
        raise InPlaceError(
            f"this tensor of shape {self.shape} repeats elements (strides {self.stride()}), "
            "so that changing one changes several: clone() it first."
        )
    return self._change_is_recorded(*others)


@method
def _replace(self: Tensor, value: Tensor) -> Tensor:
    """Store the elements of a tensor of any dtype that broadcasts here, and record that.

    Every change in place that is recorded comes down to this.
    """
    recorded = self._check_in_place(value)
    if recorded:
        value = value.to(self.dtype).expand(self.shape)
    own, data = self._tensor, value._tensor
    apart = are_apart((own, data))
    if not apart:
        data = self._aliasing_resolved(value)._tensor
    if data.layout.shape != own.layout.shape:
        data = data.expand(own.shape)
    if apart or not _same_view(data, own):
        self.backend.copy(data, own)
        own.bump_version()
    if recorded:
        self._moved_on(value)
    return self


@method
def _computed(self: Tensor, name: str, *args: Any, **options: Any) -> Tensor:
    """Replace this tensor's elements by what an operation makes of it, in the promoted dtype.

    Raises:
        DTypeError: this tensor's elements cannot hold what the result has: a fraction among
            integers, a number among truth values.
        ShapeError: the result has another shape.
    """
    recorded = self._check_in_place(*args, *options.values())
    source: Any = self._before_change() if recorded else self
    result = getattr(source, name)(*args, **options)
    if result.dtype.rank > self.dtype.rank:
        raise DTypeError(
            f"a result of {result.dtype.name} cannot be stored in place in {self.dtype.name}: "
            "convert first."
        )
    if result.shape != self.shape:
        raise ShapeError(
            f"a result of shape {result.shape} cannot be stored in a tensor of shape "
            f"{self.shape}, which is changed in place: write x = ... instead."
        )
    return self._replace(result)


@method
def copy_(self: Tensor, source: Any) -> Tensor:
    """Store the elements of `source`, broadcast and converted, and return self."""
    if not isinstance(source, Tensor):
        source = self._uploaded(np.array(source))
    if source.backend is not self.backend:
        source = source.to(self.backend)
    if source.requires_grad and self.requires_grad:
        source = Instead.apply(source, self)
    return self._replace(source)


@method
def fill_(self: Tensor, value: Number | Tensor) -> Tensor:
    """Store a number, or that of a 0-D tensor, in every element, and return self."""
    filling = single("fill_", value, self.dtype)
    if isinstance(filling, Tensor):
        return self.copy_(filling)
    repeated = self._directly_with(filling)
    if repeated is None:
        return self.copy_(self._full((), filling))
    self.backend.copy(repeated.expand(self.shape), self._tensor)
    self._tensor.bump_version()
    return self


@method
def zero_(self: Tensor) -> Tensor:
    """Store zero in every element, and return self."""
    return self.fill_(0)


@method
def _in_place(self: Tensor, name: str, other: Any) -> Tensor:
    """Replace this tensor's elements by `operator(self, other)`."""
    second = self._directly_with(other)
    if second is not None:
        data = self._tensor
        OPERATIONS[name].computing[self.backend]((data,), data, second)
        data.bump_version()
        return self
    recorded = self._check_in_place(other)
    other = plain(other)
    if not isinstance(other, OPERANDS):
        raise TypeError(
            f"{name}_() takes a tensor or a number; {other!r} of type {type(other).__name__} "
            "was given. Make it a tensor with mt_tensor.tensor(...)."
        )
    dtype = result_type(self, other)
    check_on_bool(OPERATORS[name], dtype)
    if dtype.is_floating_point and self.is_floating_point():
        finer = isinstance(other, Number) and dtype.is_narrow and not is_exact(other, dtype)
        if finer or dtype is not self.dtype:
            return self._computed(name, other)  # in the finer type
    if dtype.kind != self.dtype.kind or (
        OPERATORS[name].result == "real" and not self.dtype.is_floating_point
    ):
        floating = dtype if dtype.is_floating_point else get_default_dtype()
        raise DTypeError(
            f"the result of {name} is {floating.name} "
            f"and cannot be stored in place in {self.dtype.name}: convert first."
        )
    if not isinstance(other, Tensor):
        other = self._full((), other)
    common_backend(self, other)
    if shape_broadcast(self.shape, other.shape) != self.shape:
        raise ShapeError(
            f"shape {other.shape} does not broadcast to {self.shape}, the shape of the "
            "tensor that is changed in place."
        )
    if recorded:
        return self._replace(elementwise(name, self._before_change(), other))
    data, second = self._tensor, self._aliasing_resolved(other.detach().to(self.dtype))._tensor
    OPERATIONS[name].computing[self.backend]((data,), data, second)
    data.bump_version()
    return self


@method
def _directly_with(self: Tensor, other: Any) -> TensorData | None:
    """Return the other operand, if nothing stands in the way of computing in this memory.

    This is a contiguous floating-point tensor and nothing is to be recorded. The other is a
    number, or a tensor of the same shape, type and backend in memory of its own.
    """
    data, backend = self._tensor, self.backend
    if (
        not (data.dtype.is_floating_point and data.is_contiguous())
        or (self._requires_grad and is_grad_enabled())
        or (self._base is not None and self._base.requires_grad)
    ):
        return None
    if other.__class__ is float and (not data.dtype.is_narrow or is_exact(other, data.dtype)):
        return constant(backend, data.dtype, other)._tensor
    if (
        not isinstance(other, Tensor)
        or other.backend is not backend
        or (other._requires_grad and is_grad_enabled())
    ):
        return None
    second = other._tensor
    if second.dtype is not data.dtype or second.shape != data.shape:
        return None
    shares = second is not data and backend.same_memory(data.storage, second.storage)
    return None if shares else second


@method
def _aliasing_resolved(self: Tensor, other: Tensor) -> Tensor:
    """Return `other`, or a copy of it if it overlaps this tensor without being the same."""
    shares = self.backend.same_memory(other._tensor.storage, self._tensor.storage)
    return (
        other.detach().clone() if shares and not _same_view(other._tensor, self._tensor) else other
    )


@method("add_", "__iadd__")
def add_(self: Tensor, other: Any, alpha: Number = 1) -> Tensor:
    """Add `alpha * other` in place, and return self."""
    return self._summed_in_place("add", other, alpha)


@method("sub_", "__isub__", "subtract_")
def sub_(self: Tensor, other: Any, alpha: Number = 1) -> Tensor:
    """Subtract `alpha * other` in place, and return self."""
    return self._summed_in_place("sub", other, alpha)


@method
def _summed_in_place(self: Tensor, name: str, other: Any, alpha: Number) -> Tensor:
    if type(alpha) is int and alpha == 1:
        return self._in_place(name, other)
    dtype = result_type(self, other)
    if dtype.is_narrow or dtype is not self.dtype:
        return self._computed(name, other, alpha=alpha)
    return self._in_place(name, scaled(name, other, "alpha", alpha, dtype))


@method("mul_", "__imul__", "multiply_")
def mul_(self: Tensor, other: Any) -> Tensor:
    """Multiply in place, and return self."""
    return self._in_place("mul", other)


@method("div_", "__itruediv__", "divide_", "true_divide_")
def div_(self: Tensor, other: Any, *, rounding_mode: RoundingMode = None) -> Tensor:
    """Divide in place, rounded if asked for, and return self."""
    if rounding_mode is None:
        return self._in_place("div", other)
    return self._computed("div", other, rounding_mode=rounding_mode)


@method
def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """Raise to a power in place, and return self.

    Raises:
        DTypeError: the elements are not of float64, as the result is.
    """
    if self.dtype is not float64:
        raise DTypeError(
            f"the result of float_power is float64 and cannot be stored in place in "
            f"{self.dtype.name}: convert first, or use pow_()."
        )
    return self._computed("float_power", exponent)


@method
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Store a number where all indices are equal, and return self.

    Args:
        self: the tensor.
        fill_value: the number.
        wrap: whether the diagonal of a matrix with more rows than columns begins anew below
            its end, one row further down.

    Raises:
        ShapeError: there are fewer than two dimensions, or more but of different extents.
    """
    check_flags(wrap=wrap)
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
        raise ShapeError(
            "fill_diagonal_() needs a matrix, or dimensions that are all equal; shape "
            f"{self.shape} was given."
        )
    diagonal = np.zeros(self.shape, np.bool_)
    np.fill_diagonal(diagonal, True, wrap)
    mask = self._uploaded(diagonal)
    return self._computed("masked_fill", mask, fill_value)


# --- What is the same for every operation -------------------------------------------------------

COMPOSED = """
    deg2rad frac heaviside ldexp logit nan_to_num rad2deg
    addbmm addcdiv addcmul addmm addmv addr baddbmm cumprod cumsum index_add index_copy index_fill
    index_put index_reduce masked_fill masked_scatter put scatter scatter_add scatter_reduce
    tril triu
"""
"""The operations that torch has in place, beside those of the table, and that need nothing of their
own for it."""

VIEWS = ("squeeze", "unsqueeze", "transpose", "swapaxes", "swapdims", "t")
"""The movements that torch has in place: the tensor becomes another view of its storage."""

PYTHON = {
    "__ifloordiv__": "floor_divide",
    "__imod__": "remainder",
    "__ipow__": "pow",
    "__iand__": "bitwise_and",
    "__ior__": "bitwise_or",
    "__ixor__": "bitwise_xor",
    "__ilshift__": "bitwise_left_shift",
    "__irshift__": "bitwise_right_shift",
}
"""Python's operators that change their left side, and what they do."""


def give_in_place_forms(cls: type[Any]) -> None:
    """Give a class of tensors the in-place form `name_` of each operation `name` that it has."""

    def form_of(name: str) -> Any:
        form = vars(cls).get(f"{name}_")
        return form if isinstance(form, FunctionType) else None  # else what stands for it so far

    def give(name: str, form: Callable[..., Any]) -> None:
        if form_of(name) is None:
            setattr(cls, f"{name}_", form)

    def give_form_of(operator: Operator) -> None:
        for name in (operator.name, *operator.aliases) if facts_of(operator).in_place else ():
            give(name, form_of(operator.name) or _changing(operator.name))

    OPERATORS.for_each(give_form_of)
    for name in COMPOSED.split():
        give(name, _changing(name))
    for name in VIEWS:
        give(name, _moving(name))
    cls.clip_ = cls.clamp_
    for operator, name in PYTHON.items():
        setattr(cls, operator, _changing_by_operator(operator, name))


def _changing(name: str) -> Callable[..., Any]:
    """Return the in-place form of an operation: it is computed, and its result stored."""

    def method(self: Tensor, *args: Any, **options: Any) -> Any:
        return self._computed(name, *args, **options)

    return _named(method, f"{name}_", f"Store the result of `{name}` in place, and return self.")


def _moving(name: str) -> Callable[..., Any]:
    """Return the in-place form of a movement."""

    def method(self: Tensor, *args: Any, **options: Any) -> Any:
        recorded = self._change_is_recorded()
        moved = getattr(self, name)(*args, **options)
        same = moved.shape == self.shape and moved.stride() == self.stride()
        if not (same or recorded or self.is_leaf):
            raise InPlaceError(
                f"{name}_(): the shape of a tensor with a history changes where gradients are "
                f"recorded only; detach() it first, or use {name}()."
            )
        self._tensor = moved._tensor
        self._tensor.bump_version()
        if recorded:
            self._moved_to(moved._node)
        return self

    return _named(method, f"{name}_", f"Become the view that `{name}` returns, and return self.")


def _changing_by_operator(method_name: str, name: str) -> Callable[..., Any]:
    """Return what Python calls for an operator like `//=`."""

    def method(self: Tensor, other: Any) -> Any:
        other = plain(other)
        if not isinstance(other, (*OPERANDS, np.ndarray)):
            return NotImplemented
        return getattr(self, f"{name}_")(other)

    return _named(method, method_name, f"Store the result of `{name}` in place.")


def _named(method: Callable[..., Any], name: str, text: str) -> Callable[..., Any]:
    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = text
    return method


give_in_place_forms(Tensor)
