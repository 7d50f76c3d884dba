"""Tensors to and from elsewhere: NumPy, Python numbers, other element types, other backends."""

from __future__ import annotations

import builtins
import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from mt_autodiff import NoGradientError
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.backends.registry import get_backend
from mt_tensor.dtypes import DType, as_dtype
from mt_tensor.errors import DTypeError, ShapeError
from mt_tensor.function import Function
from mt_tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


class Cast(Function):
    """A contiguous copy with another element type, or the same."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dtype: DType) -> Tensor:
        ctx.dtype = x.dtype
        out = x.backend.allocate(x.shape, dtype)
        x.backend.copy(x._tensor, out)
        return x._with(out)

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


def restored(
    cls: type[Any],
    elements: npt.NDArray[Any],
    backend: TensorBackend,
    requires_grad: bool,
    grad: Tensor | None,
) -> Any:
    """Return the leaf that was copied or pickled."""
    leaf = object.__new__(cls)
    leaf._become(TensorBase._make(backend.upload(elements), backend))
    leaf.requires_grad = requires_grad
    leaf.grad = grad
    return leaf


class ConversionMethods(TensorBase):
    """The methods of `Tensor` that convert and copy."""

    __slots__ = ()

    # --- Copying and pickling -------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a leaf of the same class, with copies of the elements and of the gradient.

        Raises:
            NoGradientError: the tensor was computed, so that a copy would lose its history.
        """
        restore, state = self.__reduce__()
        copied: Self = restore(*state[:-1], copy.deepcopy(self.grad, memo))
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Pickle elements and gradient; the backend goes by its name.

        Raises:
            NoGradientError: the tensor was computed, so that it would lose its history.
        """
        if self.history is not None:
            raise NoGradientError(
                "a tensor that was computed from others cannot be copied or pickled with its "
                "history: use x.detach()."
            )
        elements = np.array(self.backend.as_array(self._tensor))
        return restored, (type(self), elements, self.backend, self.requires_grad, self.grad)

    # --- To Python and NumPy --------------------------------------------------------------------

    def numpy(self) -> npt.NDArray[Any]:
        """Return the elements as a NumPy array, sharing memory where the backend allows it.

        Raises:
            NoGradientError: the tensor records; use `x.detach().numpy()`.
        """
        if self.requires_grad:
            raise NoGradientError(
                "numpy() of a tensor that requires grad would lose its history: use "
                "x.detach().numpy()."
            )
        return self.backend.as_array(self._tensor)

    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> npt.NDArray[Any]:
        """Let NumPy read the elements."""
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises:
            ShapeError: there is not exactly one.
        """
        if self.numel() != 1:
            raise ShapeError(
                f"item() needs exactly one element; shape {self.shape} has {self.numel()}."
            )
        return self.backend.as_array(self._tensor).item()

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers."""
        return self.backend.as_array(self._tensor).tolist()

    def to(self, target: Any) -> Tensor:
        """Return the tensor as another element type, or on another backend.

        Args:
            target: a DType or what names one, a backend or its name, or a tensor whose element
                type and backend are taken.
        """
        if isinstance(target, TensorBase):
            return self.to(target.backend).to(target.dtype)
        if isinstance(target, TensorBackend) or (isinstance(target, str) and not _is_dtype(target)):
            backend = get_backend(target)
            return self._itself() if backend is self.backend else Move.apply(self, backend)
        dtype = as_dtype(target)
        if dtype is self.dtype:
            return self._itself()
        return Cast.apply(self if dtype.is_floating_point else self.detach(), dtype)

    def float(self) -> Tensor:
        """Return the tensor as float32."""
        return self.to("float32")

    def double(self) -> Tensor:
        """Return the tensor as float64."""
        return self.to("float64")

    def half(self) -> Tensor:
        """Return the tensor as float16."""
        return self.to("float16")

    def long(self) -> Tensor:
        """Return the tensor as int64."""
        return self.to("int64")

    def int(self) -> Tensor:
        """Return the tensor as int32."""
        return self.to("int32")

    def bool(self) -> Tensor:
        """Return the tensor as bool."""
        return self.to("bool")

    def type_as(self, other: Tensor) -> Tensor:
        """Return the tensor with the element type of another."""
        return self.to(other.dtype)

    def clone(self) -> Tensor:
        """Return a contiguous copy that the gradient flows through."""
        return Cast.apply(self, self.dtype)

    def contiguous(self) -> Tensor:
        """Return the tensor itself if it is contiguous, else a contiguous copy."""
        return self._itself() if self.is_contiguous() else self.clone()


def _is_dtype(name: str) -> bool:
    try:
        as_dtype(name)
    except DTypeError:
        return False
    return True
