"""Copies, dtype conversion, and conversion to Python numbers and NumPy arrays.

`Copy` is the first `LinearFunction`. Most of the operations that follow convert their arguments
with it.
"""

from __future__ import annotations

from typing import Any

from mt_autodiff import NoGradientError
from mt_tensor.core.arguments import check_flags
from mt_tensor.core.casting import cast_array, to_float32
from mt_tensor.core.dtypes import Array, DType, bfloat16
from mt_tensor.core.errors import DTypeError, ShapeError
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.layout import row_major
from mt_tensor.core.linear import LinearFunction
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData


class Copy(LinearFunction):
    """Copy to a contiguous tensor of a given dtype."""

    @staticmethod
    def forward(x: Tensor, dtype: DType) -> TensorData:
        data = x._tensor
        return x.backend.copy(data, row_major(data.layout.shape, dtype))

    @staticmethod
    def backward(grad: Tensor, source: Any, _: DType) -> Tensor:
        return cast(grad, source.dtype)


def cast(x: Tensor, dtype: DType) -> Tensor:
    """Convert a tensor to a dtype; return the tensor itself if it has that dtype.

    The gradient flows through a conversion between floating-point dtypes.
    """
    if x._tensor.layout.dtype is dtype:
        return x
    return Copy.apply(x if dtype.is_floating_point else x.detach(), dtype)


def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return a contiguous copy, or one in a memory format; the gradient flows through it."""
    if memory_format is not None:
        return EXTENSIONS["copy in a memory format"](self, memory_format)  # type: ignore[no-any-return]
    return Copy.apply(self, self._tensor.layout.dtype)


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """Return the tensor itself if it has the memory format, row-major by default; else a copy."""
    if self.is_contiguous(memory_format):
        return self
    if memory_format is not None:
        return EXTENSIONS["copy in a memory format"](self, memory_format, False)  # type: ignore[no-any-return]
    return self.clone()


def item(self: Tensor) -> Any:
    """Return the only element as a Python number.

    Raises:
        ShapeError: the tensor does not have exactly one element.
    """
    data = self._tensor
    if data.layout.size != 1:
        raise ShapeError(
            f"item() needs exactly one element; shape {self.shape} has {self.numel()}."
        )
    array = self.backend.to_host(data)
    return (array if data.layout.dtype is not bfloat16 else to_float32(array)).item()


def tolist(self: Tensor) -> Any:
    """Return the elements as nested lists of Python numbers."""
    array, dtype = self.backend.to_host(self._tensor), self._tensor.layout.dtype
    return (array if dtype is not bfloat16 else to_float32(array)).tolist()


def _uploaded(self: Tensor, elements: Array, dtype: DType | None = None) -> Tensor:
    """Return a constant tensor on the backend of `self` from an array, converted to `dtype`."""
    if dtype is not None:
        elements = cast_array(elements, dtype)
    return Tensor._make(self.backend.from_host(elements), self.backend)


def _numbers(self: Tensor) -> Array:
    """Return the elements as a NumPy array; bfloat16 becomes float32."""
    array: Array = to_float32(self.backend.to_host(self._tensor))
    return array


def numpy(self: Tensor, *, force: bool = False) -> Array:
    """Return the elements as a NumPy array, sharing memory where the backend allows it.

    Args:
        self: the tensor.
        force: whether to allow tensors that require grad.

    Raises:
        NoGradientError: the tensor requires grad; use `x.detach().numpy()`.
        DTypeError: the dtype is bfloat16, which NumPy does not have.
    """
    check_flags(force=force)
    if self.dtype is bfloat16:
        raise DTypeError("NumPy has no bfloat16: convert first, as in x.float().numpy().")
    if self.requires_grad and not force:
        raise NoGradientError(
            "numpy() of a tensor that requires grad would lose its history: use x.detach().numpy()."
        )
    return self.backend.to_host(self._tensor)
