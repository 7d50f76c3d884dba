"""Named operations that NumPy has in one call, or in a few (see `mt_tensor.fused`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_autodiff import is_grad_enabled
from mt_tensor.backends.silence import silently
from mt_tensor.dtypes import float32, float64, int64
from mt_tensor.fused import FUSED
from mt_tensor.recording.function import Function
from mt_tensor.strides import normalize_dim
from mt_tensor.tensor_data import TensorData

Array = npt.NDArray[Any]


# --- Softmax ------------------------------------------------------------------------------------


def _shifted(array: Array, dim: int) -> Array:
    """Return a contiguous copy minus the largest element along a dimension."""
    largest = np.maximum.reduce(array, dim, keepdims=True)
    shifted: Array = np.subtract(array, largest, order="C")
    return shifted


def _softmax(array: Array, dim: int) -> Array:
    shifted = _shifted(array, dim)
    weights = np.exp(shifted, shifted)
    weights /= np.add.reduce(weights, dim, keepdims=True)
    return weights


def _log_softmax(array: Array, dim: int) -> Array:
    shifted = _shifted(array, dim)
    total = np.add.reduce(np.exp(shifted), dim, keepdims=True)
    shifted -= np.log(total, total)
    return shifted


class Softmax(Function):
    """Softmax along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: Any, dim: int) -> Any:
        """Return the result; `dim` is not negative."""
        data = x._tensor
        out = x._with(TensorData.of(silently(_softmax, data.array, dim), data.shape, data.dtype))
        ctx.dim = dim
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Return the gradient of `x`."""
        x, out = ctx.saved_tensors
        if is_grad_enabled():
            out = Softmax.apply(x, ctx.dim)  # anew, as a function of x
        return out * (grad - (grad * out).sum(ctx.dim, keepdim=True)), None


class LogSoftmax(Function):
    """Logarithm of the softmax along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: Any, dim: int) -> Any:
        """Return the result; `dim` is not negative."""
        data = x._tensor
        out = silently(_log_softmax, data.array, dim)
        out = x._with(TensorData.of(out, data.shape, data.dtype))
        ctx.dim = dim
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Return the gradient of `x`."""
        x, out = ctx.saved_tensors
        if is_grad_enabled():
            out = LogSoftmax.apply(x, ctx.dim)  # anew, as a function of x
        return grad - out.exp() * grad.sum(ctx.dim, keepdim=True), None


def _along_a_dimension(name: str, function: type[Function]) -> Callable[..., Any]:
    """Return a Function as a kernel; what it is not made for is left to the composition."""

    def kernel(x: Any, dim: int) -> Any:
        if x.dtype not in (float32, float64) or not x.ndim or 0 in x.shape:
            return FUSED[name](x, dim)
        return function.apply(x, normalize_dim(dim, x.ndim))

    return kernel


# --- Positions ----------------------------------------------------------------------------------


def _position(name: str) -> Callable[..., Any]:
    """Return the `argmax` or `argmin` of arrays as a kernel: in both, the first nan wins."""

    def kernel(x: Any, dim: int) -> Any:
        data = x._tensor
        shape = (*data.shape[:dim], 1, *data.shape[dim + 1 :])
        position = np.ascontiguousarray(getattr(data.array, name)(dim), np.int64)
        return x._with(TensorData.of(position.reshape(shape), shape, int64))

    return kernel


KERNELS: dict[str, Callable[..., Any]] = {
    "softmax": _along_a_dimension("softmax", Softmax),
    "log_softmax": _along_a_dimension("log_softmax", LogSoftmax),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
}
"""The kernels by the name of the operation."""
