"""Tensors as other element types and on other backends."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from mt_tensor.arguments import check_flags
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.backends.registry import get_backend
from mt_tensor.dtypes import (
    DType,
    as_dtype,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from mt_tensor.errors import DTypeError
from mt_tensor.recording.function import Function, require_tensors
from mt_tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


class Cast(Function):
    """A contiguous copy with another element type, or the same."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dtype: DType) -> Tensor:
        ctx.dtype = x.dtype
        return x._with(x.backend.converted(x._tensor, dtype))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad.to(ctx.dtype), None


class Move(Function):
    """A copy on another backend."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, backend: TensorBackend) -> Tensor:
        ctx.backend = x.backend
        elements = np.array(x.backend.as_array(x._tensor))  # a copy: memory is never shared
        return TensorBase._make(backend.upload(elements), backend)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad.to(ctx.backend), None


class ConversionMethods(TensorBase):
    """The methods of `Tensor` that convert."""

    __slots__ = ()

    def to(
        self,
        target: Any = None,
        dtype: Any = None,
        copy: builtins.bool = False,
        *,
        backend: Any = None,
    ) -> Tensor:
        """Return the tensor as another element type, on another backend, or both.

        `x.to("float64")`, `x.to("simple")`, `x.to("simple", "float64")`, `x.to(other)`,
        `x.to(dtype=..., backend=...)`.

        Args:
            target: a DType or what names one, a backend or its name, or a tensor whose element
                type and backend are taken.
            dtype: the element type.
            copy: whether to return a copy even if nothing changes.
            backend: a backend or its name.

        Raises:
            TypeError: an element type or a backend was given twice.
            UnknownBackendError: a name is neither an element type nor a backend.
            DTypeError: there is no such element type.
        """
        if target is self._tensor.dtype and dtype is None and backend is None and not copy:
            return self._itself()  # soon, for it is asked very often
        if copy is not False:
            check_flags(copy=copy)
        if isinstance(target, TensorBase):
            _check_once(dtype, backend)
            dtype, backend = target.dtype, target.backend
        elif _is_backend(target):
            _check_once(backend)
            backend = target
        elif target is not None:
            _check_once(dtype)
            dtype = target
        result = self._itself()
        if backend is not None and (chosen := get_backend(backend)) is not self.backend:
            result = Move.apply(result, chosen)
        if dtype is not None and (kind := as_dtype(dtype)) is not self.dtype:
            result = Cast.apply(result if kind.is_floating_point else result.detach(), kind)
        return self.clone() if copy and result is self else result

    def float(self) -> Tensor:
        """Return the tensor as float32."""
        return self.to(float32)

    def double(self) -> Tensor:
        """Return the tensor as float64."""
        return self.to(float64)

    def half(self) -> Tensor:
        """Return the tensor as float16."""
        return self.to(float16)

    def long(self) -> Tensor:
        """Return the tensor as int64."""
        return self.to(int64)

    def int(self) -> Tensor:
        """Return the tensor as int32."""
        return self.to(int32)

    def short(self) -> Tensor:
        """Return the tensor as int16."""
        return self.to(int16)

    def char(self) -> Tensor:
        """Return the tensor as int8."""
        return self.to(int8)

    def byte(self) -> Tensor:
        """Return the tensor as uint8."""
        return self.to(uint8)

    def bool(self) -> Tensor:
        """Return the tensor as bool."""
        return self.to(bool_)

    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor with the element type of another."""
        require_tensors("type_as", other)
        return self.to(other.dtype)

    def clone(self) -> Tensor:
        """Return a contiguous copy that the gradient flows through."""
        return Cast.apply(self, self.dtype)

    def contiguous(self) -> Tensor:
        """Return the tensor itself if it is contiguous, else a contiguous copy."""
        return self._itself() if self.is_contiguous() else self.clone()


def _is_backend(target: Any) -> bool:
    """Whether something names a backend; a string that names no element type does."""
    if not isinstance(target, str):
        return not isinstance(target, DType) and isinstance(target, TensorBackend)
    try:
        as_dtype(target)
    except DTypeError:
        return True
    return False


def _check_once(*others: Any) -> None:
    """Raise TypeError unless all else is left out."""
    if any(other is not None for other in others):
        raise TypeError(
            f"to() was given an element type or a backend twice, the second time as {others[0]!r}."
        )
