"""Copies, of the same dtype or another, and tensors as Python's numbers or NumPy's arrays.

Here is the first `LinearFunction`: a copy, which gradients flow through. Most operations below
convert their arguments with it. After it come the ways by which elements leave.
"""

from __future__ import annotations

from typing import Any

from mt_autodiff import NoGradientError
from mt_tensor.core.arguments import check_flags
from mt_tensor.core.casting import cast_array, to_float32
from mt_tensor.core.dtypes import Array, DType, bfloat16
from mt_tensor.core.errors import DTypeError, ShapeError
from mt_tensor.core.layout import row_major
from mt_tensor.core.linear import LinearFunction
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData


class Cast(LinearFunction):
    """A contiguous copy with another dtype, or the same."""

    @staticmethod
    def forward(x: Tensor, dtype: DType) -> TensorData:
        data = x._tensor
        return x.backend.copy(data, row_major(data.layout.shape, dtype))

    @staticmethod
    def backward(grad: Tensor, source: Any, _: DType) -> Tensor:
        return cast(grad, source.dtype)


def cast(x: Tensor, dtype: DType) -> Tensor:
    """Return a tensor as another dtype; itself if it is of this dtype.

    Gradients flow back to it, unless they would pass through elements that are no floating-point
    numbers.
    """
    if x._tensor.layout.dtype is dtype:
        return x
    return Cast.apply(x if dtype.is_floating_point else x.detach(), dtype)


def clone(self: Tensor) -> Tensor:
    """Return a contiguous copy that the gradient flows through."""
    return Cast.apply(self, self._tensor.layout.dtype)


def contiguous(self: Tensor) -> Tensor:
    """Return the tensor itself if it is contiguous, else a contiguous copy."""
    return self if self.is_contiguous() else self.clone()


def item(self: Tensor) -> Any:
    """Return the only element as a Python number.

    Raises:
        ShapeError: there is not exactly one.
    """
    if self._tensor.size != 1:
        raise ShapeError(
            f"item() needs exactly one element; shape {self.shape} has {self.numel()}."
        )
    array = self.backend.to_host(self._tensor)
    return array.item() if self._tensor.layout.dtype is not bfloat16 else to_float32(array).item()


def tolist(self: Tensor) -> Any:
    """Return the elements as nested lists of Python numbers."""
    array = self.backend.to_host(self._tensor)
    return (
        array.tolist() if self._tensor.layout.dtype is not bfloat16 else to_float32(array).tolist()
    )


def _uploaded(self: Tensor, elements: Array, dtype: DType | None = None) -> Tensor:
    """Return an array as a constant tensor on the same backend, by default of its own dtype."""
    if dtype is not None:
        elements = cast_array(elements, dtype)
    return Tensor._make(self.backend.from_host(elements), self.backend)


def _numbers(self: Tensor) -> Array:
    """Return the elements as an array that NumPy computes with: bfloat16 as float32."""
    array: Array = to_float32(self.backend.to_host(self._tensor))
    return array


def numpy(self: Tensor, *, force: bool = False) -> Array:
    """Return the elements as a NumPy array, sharing memory where the backend allows it.

    Args:
        self: the tensor.
        force: whether to leave out the history of a tensor that requires grad.

    Raises:
        NoGradientError: the tensor records; use `x.detach().numpy()`.
        DTypeError: the elements are of bfloat16, which NumPy has not.
    """
    check_flags(force=force)
    if self.dtype is bfloat16:
        raise DTypeError("NumPy has no bfloat16: convert first, as in x.float().numpy().")
    if self.requires_grad and not force:
        raise NoGradientError(
            "numpy() of a tensor that requires grad would lose its history: use x.detach().numpy()."
        )
    return self.backend.to_host(self._tensor)
