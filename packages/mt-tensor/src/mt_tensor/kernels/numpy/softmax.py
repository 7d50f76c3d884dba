"""Softmax and log-softmax, in a few passes over the array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Array
from mt_tensor.core.host import no_warnings
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.kernels.fused import FusedKernel


def _shifted(array: Array, dim: int) -> Array:
    """Return a contiguous copy minus the maximum along a dimension."""
    largest = np.maximum.reduce(array, dim, keepdims=True)
    return np.subtract(array, largest, order="C")


def _softmax(array: Array, dim: int) -> Array:
    shifted = _shifted(array, dim)
    weights = np.exp(shifted, shifted)
    weights /= np.add.reduce(weights, dim, keepdims=True)
    return weights


def _softmax_gradient(grad: Array, out: Array, dim: int) -> Array:
    """Return `out * (grad - sum(grad * out))`."""
    product = np.multiply(grad, out, order="C")
    total = np.add.reduce(product, dim, keepdims=True)
    product -= out * total
    return product


def _log_softmax(array: Array, dim: int) -> Array:
    shifted = _shifted(array, dim)
    total = np.add.reduce(np.exp(shifted), dim, keepdims=True)
    shifted -= np.log(total, total)
    return shifted


def _log_softmax_gradient(grad: Array, out: Array, dim: int) -> Array:
    """Return `grad - exp(out) * sum(grad)`."""
    weights: Array = np.exp(out, order="C")
    weights *= np.add.reduce(grad, dim, keepdims=True)
    return np.subtract(grad, weights, weights)


class _AlongADimension(FusedKernel):
    """A kernel along one dimension, given by array functions; its gradient reads the result."""

    reads = ()

    def __init__(
        self, forward: Callable[[Array, int], Array], backward: Callable[[Array, Array, int], Array]
    ) -> None:
        self._forward = forward
        self._backward = backward

    def fits(self, *arguments: Any) -> bool:
        """Return False for 0-D and empty tensors."""
        x, _ = arguments
        return bool(x.ndim) and 0 not in x.shape

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Any, tuple[Any, ...]]:
        """Return the result, which is saved for the gradient."""
        x, dim = arguments
        data = x._tensor
        out = no_warnings().run(self._forward, data.array, dim)
        result = x._with(TensorData.of(out, data.layout.contiguous))
        return result, (result,)

    def gradient(
        self, grad: Any, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Any]:
        """Return the gradient with respect to the tensor."""
        data, dim = saved[0]._tensor, arguments[1]
        gradient = no_warnings().run(self._backward, grad._tensor.array, data.array, dim)
        return grad._with(TensorData.of(gradient, data.layout.contiguous)), None


KERNELS = {
    "softmax": _AlongADimension(_softmax, _softmax_gradient),
    "log_softmax": _AlongADimension(_log_softmax, _log_softmax_gradient),
}
