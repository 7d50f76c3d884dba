"""Normalization on arrays, in parts that stay in the processor's cache.

With the normalized elements n, the gradient of what was normalized together is

    scale (g - mean(g) - n mean(g n))

for an upstream gradient g, already multiplied by the weights (Ioffe and Szegedy, Batch
normalization, 2015, section 3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_computed, array_of, tensor_of
from mt_tensor.backends.extending import no_warnings, parts
from mt_tensor.extending import Array, FusedKernel

Axes = tuple[int, ...]


def _mean(array: Array, axes: Axes) -> Array:
    """Return means, with the dimensions that they are taken over."""
    count = math.prod(array.shape[axis] for axis in axes)
    mean: Array = np.add.reduce(array, axes, keepdims=True)
    mean /= count
    return mean


def _normalized(part: Array, axes: Axes, eps: float) -> tuple[Array, Array, Array, Array]:
    """Return elements of mean 0 and variance 1, what these were, and what they were scaled by."""
    mean = _mean(part, axes)
    normal = part - mean
    variance = _mean(np.square(normal), axes)
    scale: Array = 1 / np.sqrt(variance + eps)
    normal *= scale
    return normal, mean, variance, scale


def _gradient(grad: Array, product: Array, normal: Array, scale: Array, axes: Axes) -> Array:
    """Return the gradient of elements before they were normalized; `product` is `grad * normal`."""
    result: Array = grad - _mean(grad, axes)
    result -= normal * _mean(product, axes)
    result *= scale
    return result


class _Normalization(FusedKernel):
    """What both kernels share: input, weight and bias come first, and two settings after them."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16 and mixed types to the composition."""
        return are_computed(*arguments[:3])


def _as_tensors(gradients: Sequence[Array], x: Any, weight: Any, bias: Any) -> Sequence[Any]:
    """Return the gradients of input, weight and bias in their shapes, and none of the settings."""
    pairs = zip(gradients, (x, weight, bias), strict=True)
    shaped = (v if v is None else tensor_of(g.reshape(v.shape), x) for g, v in pairs)
    return *shaped, None, None


# --- Rows -----------------------------------------------------------------------------------------


def layer_norm(rows: Array, weight: Array | None, bias: Array | None, eps: float) -> Array:
    """Return rows that are normalized, scaled and shifted."""
    out = np.empty(rows.shape, rows.dtype)
    for part in parts(*rows.shape):
        normal = _normalized(rows[part], (1,), eps)[0]
        if weight is not None:
            normal *= weight
        out[part] = normal if bias is None else np.add(normal, bias, out=normal)
    return out


def layer_gradient(
    grad: Array, rows: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """Return the gradients of the rows, and of the weight and the bias that there are."""
    out = np.empty(rows.shape, rows.dtype)
    of_weight, of_bias = np.zeros((2, rows.shape[1]), rows.dtype)
    for part in parts(*rows.shape):
        normal, _, _, scale = _normalized(rows[part], (1,), eps)
        upstream = grad[part]
        product = upstream * normal
        if bias is not None:
            of_bias += np.add.reduce(upstream, 0)
        if weight is not None:
            of_weight += np.add.reduce(product, 0)
            upstream = upstream * weight
            product *= weight
        out[part] = _gradient(upstream, product, normal, scale, (1,))
    return out, of_weight, of_bias


class LayerNorm(_Normalization):
    """The last dimensions normalized: input, weight, bias, how many dimensions, eps."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the result."""
        x, weight, bias, folded, eps = arguments
        result = no_warnings().run(layer_norm, _rows(x, folded), _row(weight), _row(bias), eps)
        return tensor_of(result.reshape(x.shape), x), ()

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradients of the elements, the weight and the bias."""
        x, weight, bias, folded, eps = arguments
        rows = _rows(grad, folded), _rows(x, folded)
        gradients = no_warnings().run(layer_gradient, *rows, _row(weight), _row(bias), eps)
        return _as_tensors(gradients, x, weight, bias)


def _rows(x: Any, folded: int) -> Array:
    """Return a tensor as rows, each of the elements that are normalized together."""
    return array_of(x).reshape(-1, math.prod(x.shape[x.ndim - folded :]))


def _row(value: Any) -> Array | None:
    return None if value is None else array_of(value).reshape(-1)


# --- Channels -------------------------------------------------------------------------------------


def batch_norm(
    planes: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """Return channels that are normalized, scaled and shifted, their means and variances.

    The channels are the second of three dimensions, and so they are of weight and bias.
    """
    n, channels, size = planes.shape
    out = np.empty(planes.shape, planes.dtype)
    means, variances = np.empty((2, channels), planes.dtype)
    for part in parts(channels, n * size):
        normal, mean, variance, _ = _normalized(planes[:, part], (0, 2), eps)
        means[part], variances[part] = mean[0, :, 0], variance[0, :, 0]
        if weight is not None:
            normal *= weight[:, part]
        out[:, part] = normal if bias is None else np.add(normal, bias[:, part], out=normal)
    return out, means, variances


def batch_gradient(
    grad: Array, planes: Array, weight: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    """Return the gradients of the channels, of the weight and of the bias."""
    n, channels, size = planes.shape
    out = np.empty(planes.shape, planes.dtype)
    of_weight, of_bias = np.empty((2, channels), planes.dtype)
    for part in parts(channels, n * size):
        normal, _, _, scale = _normalized(planes[:, part], (0, 2), eps)
        upstream = grad[:, part]
        product = upstream * normal
        of_weight[part] = np.add.reduce(product, (0, 2))
        of_bias[part] = np.add.reduce(upstream, (0, 2))
        if weight is not None:
            scale *= weight[:, part]
        out[:, part] = _gradient(upstream, product, normal, scale, (0, 2))
    return out, of_weight, of_bias


class BatchNorm(_Normalization):
    """Channels normalized: input, weight, bias, eps, and a list for mean and variance."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the result."""
        x, weight, bias, eps, statistics = arguments
        result, *known = no_warnings().run(
            batch_norm, _planes(x), _column(weight), _column(bias), eps
        )
        statistics[:] = [tensor_of(of_channels, x) for of_channels in known]
        return tensor_of(result.reshape(x.shape), x), ()

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradients of the elements, the weight and the bias."""
        x, weight, bias, eps, _ = arguments
        gradients = no_warnings().run(
            batch_gradient, _planes(grad), _planes(x), _column(weight), eps
        )
        return _as_tensors(gradients, x, weight, bias)


def _planes(x: Any) -> Array:
    """Return a tensor of shape (samples, channels, *rest) with the rest in a row."""
    return array_of(x).reshape(*x.shape[:2], -1)


def _column(value: Any) -> Array | None:
    return None if value is None else array_of(value).reshape(1, -1, 1)


KERNELS: dict[str, FusedKernel] = {"batch_norm": BatchNorm(), "layer_norm": LayerNorm()}
"""The kernels by the name of the operation."""
