"""Layer and batch normalization, and by the mean square alone, in as few passes as there can be.

A row (a sample, or a channel of one image) is in the cache when its mean is known, so that variance
and result cost little more. Kept are a mean and a scale for each row; the gradient works the
normalized elements out again. Its formula is that of Ioffe and Szegedy, 2015: with `n` normalized
elements y and upstream gradients g (times the weight), `scale * (g - mean(g) - y * mean(g * y))`.
A row that is only scaled, to a mean square of 1, has 0 for its mean, and its gradient no `mean(g)`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.reductions import REASSOCIATE
from mt_fast.core.tables import jit
from mt_fast.fused.rows import sum_of, sum_of_squares
from mt_fast.memory.aligned import empty_like
from mt_fast.memory.arrays import are_of_one_dtype, array_of, is_compiled, shared, tensor_of
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel

PARTS = 16
"""How many partial sums the gradients of weight and bias are put together from.

It is fixed, so that they do not depend on the number of threads.
"""

_summing = jit(fastmath=set(REASSOCIATE))

# --- Layers: arrays of shape (rows, n) ----------------------------------------------------------


def _layer_rows(
    lo: Any,
    hi: Any,
    x: Any,
    weight: Any,
    bias: Any,
    eps: Any,
    is_centered: Any,
    out: Any,
    mean: Any,
    scale: Any,
) -> None:
    """Write each row normalized, scaled and shifted."""
    total, zero = sum_of(x[lo]), x.dtype.type(0)
    for i in range(lo, hi):
        row, result = x[i], out[i]
        center = total / row.dtype.type(row.size) if is_centered else zero
        variance = sum_of_squares(row, center) / row.dtype.type(row.size)
        factor = row.dtype.type(1) / np.sqrt(variance + row.dtype.type(eps))
        mean[i], scale[i] = center, factor
        total = _scaled_into(result, row, center, factor, weight, bias, x[min(i + 1, hi - 1)])


@_summing
def _scaled_into(
    result: Any, row: Any, center: Any, factor: Any, weight: Any, bias: Any, following: Any
) -> Any:
    """Write a row normalized, scaled and shifted, and return the sum of the following one."""
    total = row.dtype.type(0)
    for j in range(row.size):
        result[j] = (row[j] - center) * factor * weight[j] + bias[j]
        total += following[j]
    return total


@_summing
def _two_means(row: Any, grad: Any, weight: Any, center: Any, factor: Any) -> Any:
    """Return the mean of the weighted gradients, and of their product with what is normalized."""
    total = product = row.dtype.type(0)
    for j in range(row.size):
        g = grad[j] * weight[j]
        total += g
        product += g * ((row[j] - center) * factor)
    return total / row.dtype.type(row.size), product / row.dtype.type(row.size)


def _layer_gradient_parts(
    lo: Any,
    hi: Any,
    x: Any,
    grad: Any,
    weight: Any,
    mean: Any,
    scale: Any,
    is_centered: Any,
    out: Any,
    weights: Any,
    biases: Any,
) -> None:
    """Write the gradients of a part of the rows, and that part's share in those of the others."""
    parts, rows, zero = len(weights), len(x), x.dtype.type(0)
    for part in range(lo, hi):
        of_weight, of_bias = weights[part], biases[part]
        of_weight[:] = 0
        of_bias[:] = 0
        for i in range(rows * part // parts, rows * (part + 1) // parts):
            row, upstream, result = x[i], grad[i], out[i]
            center, factor = mean[i], scale[i]
            first, second = _two_means(row, upstream, weight, center, factor)
            if not is_centered:
                first = zero
            for j in range(row.size):
                y = (row[j] - center) * factor
                result[j] = factor * (upstream[j] * weight[j] - first - y * second)
                of_weight[j] += upstream[j] * y
                of_bias[j] += upstream[j]


# --- Batches: arrays of shape (samples, channels, n) --------------------------------------------


def _batch_channels(
    lo: Any,
    hi: Any,
    x: Any,
    weight: Any,
    bias: Any,
    eps: Any,
    out: Any,
    mean: Any,
    variance: Any,
    scale: Any,
) -> None:
    """Write each channel normalized, scaled and shifted."""
    count = x.shape[0] * x.shape[2]
    for channel in range(lo, hi):
        total = 0.0
        for i in range(len(x)):
            total += sum_of(x[i, channel])
        center = x.dtype.type(total / count)
        total = 0.0
        for i in range(len(x)):
            total += sum_of_squares(x[i, channel], center)
        mean[channel], variance[channel] = center, total / count
        scale[channel] = 1.0 / np.sqrt(total / count + eps)
        factor, shift = x.dtype.type(scale[channel]) * weight[channel], bias[channel]
        for i in range(len(x)):
            row, result = x[i, channel], out[i, channel]
            for j in range(row.size):
                result[j] = (row[j] - center) * factor + shift


@_summing
def two_sums(row: Any, grad: Any, center: Any) -> Any:
    """Return the sum of the gradients, and of their product with the distance from the mean."""
    total = product = row.dtype.type(0)
    for j in range(row.size):
        total += grad[j]
        product += grad[j] * (row[j] - center)
    return total, product


def _batch_gradient_channels(
    lo: Any,
    hi: Any,
    x: Any,
    grad: Any,
    weight: Any,
    mean: Any,
    scale: Any,
    out: Any,
    weights: Any,
    biases: Any,
) -> None:
    """Write the gradients of each channel, of its weight and its bias."""
    count = x.shape[0] * x.shape[2]
    for channel in range(lo, hi):
        center = x.dtype.type(mean[channel])
        total = product = 0.0
        for i in range(len(x)):
            first, second = two_sums(x[i, channel], grad[i, channel], center)
            total += first
            product += second
        product *= scale[channel]
        weights[channel], biases[channel] = product, total
        factor = x.dtype.type(scale[channel] * weight[channel])
        offset = x.dtype.type(total / count)
        slope = x.dtype.type(product * scale[channel] / count)
        for i in range(len(x)):
            row, upstream, result = x[i, channel], grad[i, channel], out[i, channel]
            for j in range(row.size):
                result[j] = factor * (upstream[j] - offset - (row[j] - center) * slope)


# --- Batches of single elements for each channel: arrays of shape (samples, channels) -------------

COLUMNS = 128
"""How many channels are done at a time, side by side."""


def _batch_columns(
    lo: Any,
    hi: Any,
    x: Any,
    weight: Any,
    bias: Any,
    eps: Any,
    out: Any,
    mean: Any,
    variance: Any,
    scale: Any,
) -> None:
    """Write blocks of channels normalized, scaled and shifted."""
    count, channels = x.shape
    for block in range(lo, hi):
        first, end = block * COLUMNS, min((block + 1) * COLUMNS, channels)
        centers, spreads, factors = mean[first:end], variance[first:end], scale[first:end]
        shares, shifts = weight[first:end], bias[first:end]
        centers[:] = 0
        spreads[:] = 0
        for i in range(count):
            row = x[i, first:end]
            for j in range(row.size):
                centers[j] += row[j]
        for j in range(centers.size):
            centers[j] /= count
        for i in range(count):
            row = x[i, first:end]
            for j in range(row.size):
                spreads[j] += (row[j] - centers[j]) * (row[j] - centers[j])
        for j in range(spreads.size):
            spreads[j] /= count
            factors[j] = 1.0 / np.sqrt(spreads[j] + eps)
        for i in range(count):
            row, result = x[i, first:end], out[i, first:end]
            for j in range(row.size):
                result[j] = (row[j] - centers[j]) * factors[j] * shares[j] + shifts[j]


def _batch_gradient_columns(
    lo: Any,
    hi: Any,
    x: Any,
    grad: Any,
    weight: Any,
    mean: Any,
    scale: Any,
    out: Any,
    weights: Any,
    biases: Any,
) -> None:
    """Write the gradients of blocks of channels, of their weights and biases."""
    count, channels = x.shape
    for block in range(lo, hi):
        first, end = block * COLUMNS, min((block + 1) * COLUMNS, channels)
        centers, factors, shares = mean[first:end], scale[first:end], weight[first:end]
        products, totals = weights[first:end], biases[first:end]
        products[:] = 0
        totals[:] = 0
        for i in range(count):
            row, upstream = x[i, first:end], grad[i, first:end]
            for j in range(row.size):
                totals[j] += upstream[j]
                products[j] += upstream[j] * ((row[j] - centers[j]) * factors[j])
        share = 1.0 / count
        for i in range(count):
            row, upstream, result = x[i, first:end], grad[i, first:end], out[i, first:end]
            for j in range(row.size):
                y = (row[j] - centers[j]) * factors[j]
                rest = (totals[j] + y * products[j]) * share
                result[j] = shares[j] * factors[j] * (upstream[j] - rest)


_LAYER, _LAYER_GRADIENT = Kernel.of(_layer_rows), Kernel.of(_layer_gradient_parts)
_BATCH, _BATCH_GRADIENT = Kernel.of(_batch_channels), Kernel.of(_batch_gradient_channels)
_COLUMNS, _COLUMNS_GRADIENT = Kernel.of(_batch_columns), Kernel.of(_batch_gradient_columns)

# --- Operations on tensors ----------------------------------------------------------------------


class Normalization(FusedKernel):
    """An operation on an input, a weight and a bias."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16 and mixed types to the composition."""
        x, weight, bias, *_ = arguments
        return is_compiled(x) and are_of_one_dtype(x, weight, bias)


def filled(tensor: Tensor | None, size: int, number: float, like: Tensor) -> Array:
    """Return a row of weights, or of the number that stands for what is not given."""
    if tensor is None:
        return _row(size, number, like._tensor.layout.dtype.numpy)
    return array_of(tensor).reshape(-1)


@functools.lru_cache(64)
def _row(size: int, number: float, dtype: np.dtype[Any]) -> Array:
    """Return a row of one number, which kernels only read."""
    return np.full(size, number, dtype)


class _LayerNorm(Normalization):
    """The last dimensions normalized: input, weight, bias, how many dimensions, eps."""

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the result; the gradient reads mean and scale of each row."""
        return _layers(*arguments, is_centered=True)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of the elements, the weight and the bias."""
        x, weight, bias, folded, _ = arguments
        return *_of_layers(grad, saved, x, weight, bias, folded, is_centered=True), None, None


class _RMSNorm(Normalization):
    """The last dimensions scaled: input, weight, how many dimensions, eps."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16 and mixed types to the composition."""
        x, weight, *_ = arguments
        return super().fits(x, weight, None)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the result; the gradient reads the scale of each row."""
        x, weight, folded, eps = arguments
        return _layers(x, weight, None, folded, eps, is_centered=False)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of the elements and the weight."""
        x, weight, folded, _ = arguments
        gradients = _of_layers(grad, saved, x, weight, None, folded, is_centered=False)
        return *gradients[:2], None, None


def _layers(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    folded: int,
    eps: float,
    *,
    is_centered: bool,
) -> tuple[Tensor, tuple[Array, Array]]:
    """Return the last dimensions normalized, and the mean and scale of each row."""
    rows = _rows(x, folded)
    size = rows.shape[1]
    out = empty_like(rows)
    mean, scale = np.empty(len(rows), rows.dtype), np.empty(len(rows), rows.dtype)
    factors, shifts = filled(weight, size, 1, x), filled(bias, size, 0, x)
    operands = rows, factors, shifts, eps, is_centered
    _LAYER.run(len(rows), shared(rows.size, x), *operands, out, mean, scale)
    return tensor_of(out.reshape(x._tensor.layout.shape), x), (mean, scale)


def _of_layers(
    grad: Tensor,
    saved: tuple[Any, ...],
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    folded: int,
    *,
    is_centered: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Return the gradients of the elements, the weight and the bias."""
    rows, upstream = _rows(x, folded), _rows(grad, folded)
    size = rows.shape[1]
    out = empty_like(rows)
    weights, biases = np.empty((2, PARTS, size), rows.dtype)
    operands = rows, upstream, filled(weight, size, 1, x), *saved, is_centered
    _LAYER_GRADIENT.run(PARTS, shared(rows.size, x), *operands, out, weights, biases)
    return (
        tensor_of(out.reshape(x.shape), x),
        None if weight is None else tensor_of(np.add.reduce(weights).reshape(weight.shape), x),
        None if bias is None else tensor_of(np.add.reduce(biases).reshape(bias.shape), x),
    )


def _rows(x: Tensor, folded: int) -> Array:
    """Return a tensor as rows, each of the elements that are normalized together."""
    shape = x._tensor.layout.shape
    return array_of(x).reshape(-1, math.prod(shape[len(shape) - folded :]))


class _BatchNorm(Normalization):
    """Channels normalized: input, weight, bias, eps, and a list for mean and variance."""

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the result; the gradient reads mean and variance of each channel."""
        x, weight, bias, eps, statistics = arguments
        planes = _channels(x)
        channels = planes.shape[1]
        out = empty_like(planes)
        mean, variance, scale = np.empty((3, channels))
        factors, shifts = filled(weight, channels, 1, x), filled(bias, channels, 0, x)
        results = _beside(out), mean, variance, scale
        kernel, units = _BATCH, channels
        if _is_single(planes):
            kernel, units = _COLUMNS, _blocks(planes)
        parallel = shared(planes.size, x)
        kernel.run(units, parallel, _beside(planes), factors, shifts, eps, *results)
        statistics[:] = [tensor_of(each.astype(planes.dtype), x) for each in (mean, variance)]
        return tensor_of(out.reshape(x.shape), x), (mean, scale)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of the elements, the weights and the biases."""
        x, weight, bias, _, _ = arguments
        planes, upstream, parallel = _channels(x), _channels(grad), shared(x.numel(), x)
        channels = planes.shape[1]
        out = empty_like(planes)
        weights, biases = np.empty((2, channels))
        kernel, units = _BATCH_GRADIENT, channels
        if _is_single(planes):
            kernel, units = _COLUMNS_GRADIENT, _blocks(planes)
        arrays = _beside(planes), _beside(upstream), filled(weight, channels, 1, x), *saved
        kernel.run(units, parallel, *arrays, _beside(out), weights, biases)
        return (
            tensor_of(out.reshape(x.shape), x),
            None if weight is None else tensor_of(weights.astype(planes.dtype), x),
            None if bias is None else tensor_of(biases.astype(planes.dtype), x),
            None,
            None,
        )


def _is_single(planes: Array) -> bool:
    """Whether channels have a single element in each sample."""
    return bool(planes.shape[2] == 1)


def _blocks(planes: Array) -> int:
    """Return how many blocks of `COLUMNS` channels there are."""
    return -(-int(planes.shape[1]) // COLUMNS)


def _beside(planes: Array) -> Array:
    """Return channels of single elements beside each other, and others as they are."""
    return planes.reshape(planes.shape[:2]) if _is_single(planes) else planes


def _channels(x: Tensor) -> Array:
    """Return a tensor of shape (samples, channels, *rest) with the rest in a row."""
    return array_of(x).reshape(*x.shape[:2], -1)


LAYER_NORM, RMS_NORM, BATCH_NORM = _LayerNorm(), _RMSNorm(), _BatchNorm()
