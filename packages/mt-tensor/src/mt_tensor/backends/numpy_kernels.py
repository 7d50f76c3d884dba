"""Named operations that NumPy has in one call, or in a few (see `mt_tensor.fused`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_tensor.backends.silence import silently
from mt_tensor.dtypes import Array, int64
from mt_tensor.fused import FUSED
from mt_tensor.tensor_data import TensorData

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


def _along_a_dimension(name: str, function: Callable[[Array, int], Array]) -> Callable[..., Any]:
    """Return a function of arrays as a kernel; numbers and nothing are left to the composition."""

    def kernel(x: Any, dim: int) -> Any:
        data = x._tensor
        if not x.ndim or 0 in x.shape:
            return FUSED[name](x, dim)
        out = silently(function, data.array, dim)
        return x._with(TensorData.of(out, data.shape, data.dtype))

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
    "softmax": _along_a_dimension("softmax", _softmax),
    "log_softmax": _along_a_dimension("log_softmax", _log_softmax),
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
}
"""The kernels by the name of the operation."""
