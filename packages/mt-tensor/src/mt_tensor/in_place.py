"""Changing tensors in place: what is allowed, and how memory that overlaps is handled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mt_operators import OPERATORS
from mt_tensor.aliasing import AliasMethods
from mt_tensor.dtypes import Number, result_type
from mt_tensor.elementwise import check_on_bool, elementwise
from mt_tensor.errors import DTypeError, InPlaceError, ShapeError
from mt_tensor.function import common_backend
from mt_tensor.strides import overlaps, shape_broadcast
from mt_tensor.tensor_base import TensorBase
from mt_tensor.tensor_data import TensorData

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


def _same_view(a: TensorData, b: TensorData) -> bool:
    return (
        a.storage is b.storage
        and a.shape == b.shape
        and a.strides == b.strides
        and a.offset == b.offset
        and a.dtype is b.dtype
    )


class InPlaceMethods(AliasMethods):
    """The methods of `Tensor` that change it."""

    __slots__ = ()

    def _check_in_place(self, *others: Any) -> bool:
        """Return whether a change in place of this tensor, with others, is to be recorded.

        Raises:
            InPlaceError: a change of one element would change several, or gradients cannot follow.
        """
        if overlaps(self.shape, self.stride()):
            raise InPlaceError(
                f"this tensor of shape {self.shape} repeats elements (strides {self.stride()}), "
                "so that changing one changes several: clone() it first."
            )
        return self._change_is_recorded(*others)

    def _replace(self, value: Tensor) -> Self:
        """Store the elements of a tensor of any dtype that broadcasts here, and record that.

        Every change in place that is recorded comes down to this.
        """
        recorded = self._check_in_place(value)
        if recorded:
            value = value.to(self.dtype).expand(self.shape)
        data = self._aliasing_resolved(value)._tensor.expand(self.shape)
        if not _same_view(data, self._tensor):
            self.backend.copy(data, self._tensor)
            self._tensor.changed()
        if recorded:
            self._moved_on(value)
        return self

    def copy_(self, source: Any) -> Self:
        """Store the elements of `source`, broadcast and converted, and return self."""
        if not isinstance(source, TensorBase):
            source = self._with(self.backend.upload(np.array(source)))
        return self._replace(source.to(self.backend))

    def fill_(self, value: Number) -> Self:
        """Store a number in every element, and return self."""
        return self.copy_(self._with(self.backend.full((), self.dtype, self.dtype.checked(value))))

    def zero_(self) -> Self:
        """Store zero in every element, and return self."""
        return self.fill_(0)

    def _in_place(self, name: str, other: Any) -> Self:
        """Replace this tensor's elements by `operator(self, other)`."""
        recorded = self._check_in_place(other)
        if isinstance(other, np.generic):
            other = other.item()
        if not isinstance(other, TensorBase | Number):
            raise TypeError(
                f"{name}_() takes a tensor or a number; {other!r} of type {type(other).__name__} "
                "was given."
            )
        dtype = result_type(self, other)
        check_on_bool(name, dtype)
        if dtype.kind != self.dtype.kind or (
            OPERATORS[name].result == "real" and not self.dtype.is_floating_point
        ):
            raise DTypeError(
                f"the result of {name} is {dtype.name if dtype.kind == 'float' else 'float32'} "
                f"and cannot be stored in place in {self.dtype.name}: convert first."
            )
        if not isinstance(other, TensorBase):
            other = self._with(self.backend.full((), self.dtype, other))
        common_backend(self, other)
        if shape_broadcast(self.shape, other.shape) != self.shape:
            raise ShapeError(
                f"shape {other.shape} does not broadcast to {self.shape}, the shape of the "
                "tensor that is changed in place."
            )
        if recorded:
            return self._replace(elementwise(name, self._before_change(), other))
        data = self._aliasing_resolved(other.detach().to(self.dtype))._tensor.expand(self.shape)
        self.backend.elementwise(OPERATORS[name].value, (self._tensor, data), (self._tensor,))
        self._tensor.changed()
        return self

    def _aliasing_resolved(self, other: Tensor) -> Tensor:
        """Return `other`, or a copy of it if it overlaps this tensor without being the same."""
        shares = self.backend.same_memory(other._tensor.storage, self._tensor.storage)
        return (
            other.detach().clone()
            if shares and not _same_view(other._tensor, self._tensor)
            else other
        )

    def add_(self, other: Any, alpha: Number = 1) -> Self:
        """Add `alpha * other` in place, and return self."""
        return self._in_place("add", other if alpha == 1 else other * alpha)

    def sub_(self, other: Any, alpha: Number = 1) -> Self:
        """Subtract `alpha * other` in place, and return self."""
        return self._in_place("sub", other if alpha == 1 else other * alpha)

    def mul_(self, other: Any) -> Self:
        """Multiply in place, and return self."""
        return self._in_place("mul", other)

    def div_(self, other: Any) -> Self:
        """Divide in place, and return self."""
        return self._in_place("div", other)

    __iadd__ = add_
    __isub__ = sub_
    __imul__ = mul_
    __itruediv__ = div_
