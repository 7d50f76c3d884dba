"""In-place operations: checks, overlapping memory, and recording.

Most in-place operations run the out-of-place operation and copy the result. A few that training
uses often compute directly in the memory of the tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from mt_autodiff import is_grad_enabled
from mt_operators import OPERATORS
from mt_tensor.core.arguments import check_flags
from mt_tensor.core.dtypes import Number, NumberLike, float64, get_default_dtype, plain, result_type
from mt_tensor.core.elementwise import OPERANDS, OPERATIONS, check_on_bool, constant, elementwise
from mt_tensor.core.graph import version_of
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import overlaps, shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.emulation.exactness import is_exact
from mt_tensor.errors import DTypeError, InPlaceError, ShapeError
from mt_tensor.pointwise.choosing import as_scalar
from mt_tensor.pointwise.functions import scaled
from mt_tensor.pointwise.integers import RoundingMode
from mt_tensor.pointwise.memory import are_disjoint
from mt_tensor.recording.aliasing import InPlaceReplace

Arguments = ParamSpec("Arguments")
Method = TypeVar("Method", bound=Callable[..., Any])
TensorT = TypeVar("TensorT", bound=Tensor)


def _same_view(a: TensorData, b: TensorData) -> bool:
    return a.layout is b.layout and a.storage is b.storage


def _check_in_place(self: Tensor, *others: Any) -> bool:
    """Check an in-place change of this tensor, and return whether it must be recorded.

    Args:
        self: the tensor to change.
        *others: the operands.

    Raises:
        InPlaceError: elements of the tensor share memory, or gradients cannot be recorded.
    """
    is_contiguous = self._tensor.layout.row_major or self.is_contiguous()
    if not is_contiguous and overlaps(self.shape, self.stride()):
        raise InPlaceError(
            f"a tensor of shape {self.shape} and strides {self.stride()} cannot be changed in "
            "place: some of its elements share memory. clone() it first."
        )
    return self._change_is_recorded(*others)


def _replace(self: TensorT, value: Tensor) -> TensorT:
    """Overwrite with a tensor of any dtype that broadcasts to this shape, and record the change."""
    recorded = self._check_in_place(value)
    if recorded:
        value = value.to(self.dtype).expand(self.shape)
    target, data = self._tensor, value._tensor
    disjoint = are_disjoint((target, data))
    if not disjoint:
        data = _without_aliasing(self, value)._tensor
    if data.layout.shape != target.layout.shape:
        data = data.expand(target.shape)
    if disjoint or not _same_view(data, target):
        self.backend.copy(data, target)
        target.bump_version()
    if recorded:
        self._rebase_history(value)
    return self


def _store_result(self: TensorT, result: Tensor, *args: Any) -> TensorT:
    """Overwrite with the result of an operation on old elements, and record the change.

    If the operation has made the result for this call, its node becomes that of this tensor.

    Args:
        self: the tensor to change.
        result: a tensor of its shape.
        *args: the arguments of the operation.
    """
    target, node = self._tensor, result._node
    if (
        node is None
        or self._base is not None
        or result._base is not None
        or result.dtype is not self.dtype
        or result.backend is not self.backend
        or any(result is each for each in args)
    ):
        return self._replace(result)
    if any(data is target for data in node.saved):  # of an elementwise operation on `self`
        old = self.backend.copy(target, target.layout.contiguous)
        node.saved = node.ctx = tuple([old if data is target else data for data in node.saved])
        node.version = version_of(node.saved)
    self.backend.copy(result._tensor, target)
    target.bump_version()
    self._replace_node(node)
    self._requires_grad = True
    return self


def _computed(self: TensorT, name: str, *args: Any, **options: Any) -> TensorT:
    """Call the method `name`, and overwrite this tensor with the result.

    Raises:
        DTypeError: the result cannot be stored in this dtype: a float as an integer, or a number
            as a bool.
        ShapeError: the result has another shape.
    """
    recorded = self._check_in_place(*args, *options.values())
    source: Any = self._before_change() if recorded else self
    result = getattr(source, name)(*args, **options)
    if result.dtype.rank > self.dtype.rank:
        raise DTypeError(
            f"{name}_(): a result of {result.dtype.name} cannot be stored in place in "
            f"{self.dtype.name}: convert first."
        )
    if result.shape != self.shape:
        raise ShapeError(
            f"{name}_(): a result of shape {result.shape} cannot be stored in place in a tensor of "
            f"shape {self.shape}: write x = ... instead."
        )
    return _store_result(self, result, *args, *options.values())


def copy_(self: TensorT, source: Any) -> TensorT:
    """Copy the elements of `source`, broadcast and converted, and return self.

    Raises:
        ShapeError: `source` does not broadcast to this shape.
        InPlaceError: this tensor is a leaf that requires grad, or elements of it share memory.
    """
    if not isinstance(source, Tensor):
        source = self._uploaded(np.array(source))
    if source.backend is not self.backend:
        source = source.to(self.backend)
    if source.requires_grad and self.requires_grad:
        source = InPlaceReplace.apply(source, self)
    return self._replace(source)


def fill_(self: TensorT, value: Number | Tensor) -> TensorT:
    """Set every element to a number or the value of a 0-D tensor, and return self.

    Raises:
        DTypeError: `value` is out of the range of the dtype.
        ShapeError: `value` is a tensor with dimensions.
        TypeError: `value` is neither a number nor a tensor.
        InPlaceError: this tensor is a leaf that requires grad, or elements of it share memory.
    """
    filling = as_scalar("fill_", value, self.dtype)
    if isinstance(filling, Tensor):
        return self.copy_(filling)
    repeated = _direct_operand(self, filling)
    if repeated is None:
        return self.copy_(self._full((), filling))
    self.backend.copy(repeated.expand(self.shape), self._tensor)
    self._tensor.bump_version()
    return self


def zero_(self: TensorT) -> TensorT:
    """Set every element to zero, and return self."""
    return self.fill_(0)


def _apply_in_place(self: TensorT, name: str, other: Any) -> TensorT:
    """Apply a binary operator of the table to this tensor and `other`, in place."""
    if isinstance(other, NumberLike):
        other = other.as_tensor_like(self)
    second = _direct_operand(self, other)
    if second is not None:
        data = self._tensor
        OPERATIONS[name].plans.change(self.backend, (data,), data, second)
        data.bump_version()
        return self
    recorded = self._check_in_place(other)
    if recorded and isinstance(other, Tensor) and other.dtype is self.dtype:
        result = _recorded(self, name, other)
        if result.shape == self.shape:
            return _store_result(self, result)
    other = plain(other)
    if not isinstance(other, OPERANDS):
        raise TypeError(
            f"{name}_() takes a tensor or a number; {other!r} of type {type(other).__name__} "
            "was given. Make it a tensor with mt_tensor.tensor(...)."
        )
    dtype = result_type(self, other)
    check_on_bool(OPERATORS[name], dtype)
    if dtype.is_floating_point and self.is_floating_point():
        inexact = isinstance(other, Number) and dtype.is_narrow and not is_exact(other, dtype)
        if inexact or dtype is not self.dtype:
            return self._computed(name, other)  # in the wider dtype
    if dtype.kind != self.dtype.kind or (
        OPERATORS[name].result == "real" and not self.dtype.is_floating_point
    ):
        floating = dtype if dtype.is_floating_point else get_default_dtype()
        raise DTypeError(
            f"the result of {name} is {floating.name} and cannot be stored in place in "
            f"{self.dtype.name}: convert first."
        )
    if not isinstance(other, Tensor):
        other = self._full((), other)
    common_backend(self, other)
    if shape_broadcast(self.shape, other.shape) != self.shape:
        raise ShapeError(
            f"{name}_(): shape {other.shape} does not broadcast to {self.shape}, the shape of the "
            "tensor to change in place."
        )
    if recorded:
        return _store_result(self, _recorded(self, name, other))
    data, second = self._tensor, _without_aliasing(self, other.detach().to(self.dtype))._tensor
    OPERATIONS[name].plans.change(self.backend, (data,), data, second)
    data.bump_version()
    return self


def _recorded(self: Tensor, name: str, other: Tensor) -> Tensor:
    """Return the result of an operator on the old elements, for `_store_result`."""
    old = self if self._base is None else self._before_change()
    return elementwise(name, old, other)


def _direct_operand(self: Tensor, other: Any) -> TensorData | None:
    """Return the other operand if the result can be computed directly in this memory, else None.

    This requires that this tensor is contiguous and floating-point, that nothing is recorded, and
    that `other` is a number, or a tensor of the same dtype and backend that has this shape or
    shape () and shares no memory with this one.
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
    if second.dtype is not data.dtype or second.shape not in (data.shape, ()):
        return None
    shares = second is not data and backend.same_memory(data.storage, second.storage)
    return None if shares else second


def _without_aliasing(self: Tensor, other: Tensor) -> Tensor:
    """Return `other`, or a copy if it shares memory with this tensor but is not the same view."""
    target, data = self._tensor, other._tensor
    if _same_view(data, target) or not self.backend.same_memory(data.storage, target.storage):
        return other
    return other.detach().clone()


def add_(self: TensorT, other: Any, alpha: Number = 1) -> TensorT:
    """Add `alpha * other` in place, and return self.

    Raises:
        DTypeError: the result cannot be stored in this dtype, such as a float as an integer.
        ShapeError: `other` broadcasts with this tensor to another shape.
        IndexingError: the shapes do not broadcast.
        InPlaceError: this tensor is a leaf that requires grad, or elements of it share memory.
        TypeError: `other` is neither a tensor nor a number, or `alpha` is not a number.
    """
    return _add_scaled_in_place(self, "add", other, alpha)


def sub_(self: TensorT, other: Any, alpha: Number = 1) -> TensorT:
    """Subtract `alpha * other` in place, and return self; errors as for `add_`."""
    return _add_scaled_in_place(self, "sub", other, alpha)


def _add_scaled_in_place(self: TensorT, name: str, other: Any, alpha: Number) -> TensorT:
    if type(alpha) is int and alpha == 1:
        return _apply_in_place(self, name, other)
    dtype = result_type(self, other)
    if dtype.is_narrow or dtype is not self.dtype:
        return self._computed(name, other, alpha=alpha)
    return _apply_in_place(self, name, scaled(name, other, f"{name}_(): alpha", alpha, dtype))


def mul_(self: TensorT, other: Any) -> TensorT:
    """Multiply by `other` in place, and return self; errors as for `add_`."""
    return _apply_in_place(self, "mul", other)


def div_(self: TensorT, other: Any, *, rounding_mode: RoundingMode = None) -> TensorT:
    """Divide by `other` in place, with rounding as in `mt_tensor.div`, and return self.

    Errors are those of `add_` and `mt_tensor.div`.
    """
    if rounding_mode is None:
        return _apply_in_place(self, "div", other)
    return self._computed("div", other, rounding_mode=rounding_mode)


def float_power_(self: TensorT, exponent: Any) -> TensorT:
    """Raise to a power in place, and return self.

    Raises:
        DTypeError: this tensor is not float64, the dtype of the result.
    """
    if self.dtype is not float64:
        raise DTypeError(
            f"the result of float_power is float64 and cannot be stored in place in "
            f"{self.dtype.name}: convert first, or use pow_()."
        )
    return self._computed("float_power", exponent)


def fill_diagonal_(self: TensorT, fill_value: Number, wrap: bool = False) -> TensorT:
    """Set the diagonal, where all indices are equal, to a number, and return self.

    Args:
        self: the tensor.
        fill_value: the number.
        wrap: whether to repeat the diagonal of a tall matrix, leaving out a row in between.

    Raises:
        ShapeError: there are fewer than two dimensions, or more than two of different sizes.
    """
    check_flags(wrap=wrap)
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
        raise ShapeError(
            "fill_diagonal_() needs a matrix, or dimensions of equal size; shape "
            f"{self.shape} was given."
        )
    diagonal = np.zeros(self.shape, np.bool_)
    np.fill_diagonal(diagonal, True, wrap)
    mask = self._uploaded(diagonal)
    return self._computed("masked_fill", mask, fill_value)


# --- In-place forms of other operations ---------------------------------------------------------


def in_place_of(
    operation: Callable[Concatenate[Any, Arguments], Tensor],
) -> Callable[Concatenate[TensorT, Arguments], TensorT]:
    """Return the in-place form of an operation, which overwrites the tensor with the result."""
    name = operation.__name__

    def method(self: TensorT, /, *args: Arguments.args, **options: Arguments.kwargs) -> TensorT:
        self._computed(name, *args, **options)
        return self

    return _named(method, f"{name}_", f"Store the result of `{name}` in place, and return self.")


class InPlace(Protocol[Arguments]):
    """The type of a method that changes its tensor and returns it."""

    @overload
    def __get__(
        self, tensor: None, owner: type
    ) -> Callable[Concatenate[Any, Arguments], Tensor]: ...

    @overload
    def __get__(
        self, tensor: TensorT, owner: type | None = None
    ) -> Callable[Arguments, TensorT]: ...


def with_in_place(
    operation: Callable[Concatenate[Any, Arguments], Tensor],
) -> tuple[Callable[Concatenate[Any, Arguments], Tensor], InPlace[Arguments]]:
    """Return an operation and its in-place form."""
    changed: Any = in_place_of(operation)
    return operation, changed


def in_place_view_of(
    view: Callable[Concatenate[Any, Arguments], Tensor],
) -> Callable[Concatenate[TensorT, Arguments], TensorT]:
    """Return the in-place form of an operation that returns a view: the tensor becomes the view.

    Raises:
        InPlaceError: (the returned method) the tensor is not a leaf, gradients are not recorded,
            and the view has another shape or other strides.
    """
    name = view.__name__

    def method(self: TensorT, /, *args: Arguments.args, **options: Arguments.kwargs) -> TensorT:
        recorded = self._change_is_recorded()
        result = getattr(self, name)(*args, **options)
        same = result.shape == self.shape and result.stride() == self.stride()
        if not (same or recorded or self.is_leaf):
            raise InPlaceError(
                f"{name}_() cannot change the shape of a tensor that is not a leaf while gradients "
                f"are not recorded: detach() it first, or use {name}()."
            )
        self._tensor = result._tensor
        self._tensor.bump_version()
        if recorded:
            self._replace_node(result._node)
        return self

    return _named(method, f"{name}_", f"Become the view that `{name}` returns, and return self.")


def in_place_operator(
    method_name: str, operation: Callable[..., Tensor]
) -> Callable[[TensorT, Any], TensorT]:
    """Return the method that Python calls for an augmented assignment such as `//=`."""
    name = operation.__name__

    def method(self: TensorT, other: Any) -> Any:
        other = plain(other)
        if not isinstance(other, (*OPERANDS, np.ndarray)):
            return NotImplemented
        return getattr(self, f"{name}_")(other)

    return _named(method, method_name, f"Store the result of `{name}` in place.")


def _named(method: Method, name: str, text: str) -> Method:
    method.__name__ = name
    method.__qualname__ = f"Tensor.{name}"
    method.__doc__ = text
    return method
