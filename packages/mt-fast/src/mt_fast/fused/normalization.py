"""Layer, batch, group and RMS normalization in as few passes as possible.

A row (a sample, or a channel of one image) is in the cache when its mean is known, so that variance
and result cost little more. A mean and a scale per row are saved; the gradient recomputes the
normalized elements. With `n` normalized elements y and upstream gradients g (times the weight), the
gradient is `scale * (g - mean(g) - y * mean(g * y))` (Ioffe and Szegedy, 2015). RMS normalization
scales a row to a mean square of 1 without centering it: its mean is taken as 0, and its gradient
lacks `mean(g)`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.fused.rows import sum_of, sum_of_squares, summing
from mt_fast.memory.aligned import empty_like
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

PARTS = 16
"""The number of partial sums of the gradients of weight and bias.

It is fixed, so that results do not depend on the number of threads."""

# --- Layers: arrays of shape (rows, n) ----------------------------------------------------------


def _layer_rows(
    lo: Any, hi: Any, x: Any, weight: Any, bias: Any, eps: Any, is_centered: Any, out: Any,
    mean: Any, scale: Any,
) -> None:  # fmt: skip
    """Normalize, scale and shift each row."""
    total, zero = sum_of(x[lo]), x.dtype.type(0)
    for i in range(lo, hi):
        row, result = x[i], out[i]
        center = total / row.dtype.type(row.size) if is_centered else zero
        variance = sum_of_squares(row, center) / row.dtype.type(row.size)
        factor = row.dtype.type(1) / np.sqrt(variance + row.dtype.type(eps))
        mean[i], scale[i] = center, factor
        total = _scaled_into(result, row, center, factor, weight, bias, x[min(i + 1, hi - 1)])


@summing
def _scaled_into(
    result: Any, row: Any, center: Any, factor: Any, weight: Any, bias: Any, following: Any
) -> Any:
    """Write a row normalized, scaled and shifted, and return the sum of the following row."""
    total = row.dtype.type(0)
    for j in range(row.size):
        result[j] = (row[j] - center) * factor * weight[j] + bias[j]
        total += following[j]
    return total


@summing
def _two_means(row: Any, grad: Any, weight: Any, center: Any, factor: Any) -> Any:
    """Return the mean of the weighted gradients, and of their product with the normalized row."""
    total = product = row.dtype.type(0)
    for j in range(row.size):
        g = grad[j] * weight[j]
        total += g
        product += g * ((row[j] - center) * factor)
    return total / row.dtype.type(row.size), product / row.dtype.type(row.size)


def _layer_gradient_parts(
    lo: Any, hi: Any, x: Any, grad: Any, weight: Any, mean: Any, scale: Any, is_centered: Any,
    out: Any, weights: Any, biases: Any,
) -> None:  # fmt: skip
    """Write the gradients of a part of the rows, and its partial gradients of weight and bias."""
    parts, rows, zero = len(weights), len(x), x.dtype.type(0)
    for part in range(lo, hi):
        grad_weight, grad_bias = weights[part], biases[part]
        grad_weight[:] = 0
        grad_bias[:] = 0
        for i in range(rows * part // parts, rows * (part + 1) // parts):
            row, upstream, result = x[i], grad[i], out[i]
            center, factor = mean[i], scale[i]
            first, second = _two_means(row, upstream, weight, center, factor)
            if not is_centered:
                first = zero
            for j in range(row.size):
                y = (row[j] - center) * factor
                result[j] = factor * (upstream[j] * weight[j] - first - y * second)
                grad_weight[j] += upstream[j] * y
                grad_bias[j] += upstream[j]


# --- Batches and groups: arrays of shape (samples, units, rows, n) --------------------------------
#
# The elements of a unit are normalized together. In batch normalization a unit is a channel of all
# samples, with a row per sample; in group normalization some channels of one sample, with a row per
# channel. `weight` and `bias` have an element per channel: row j of unit u takes the element
# `(u * rows + j) % channels`.


def _units(
    lo: Any, hi: Any, x: Any, weight: Any, bias: Any, eps: Any, out: Any, mean: Any, variance: Any,
    scale: Any,
) -> None:  # fmt: skip
    """Normalize each unit, and scale and shift its rows."""
    samples, _, rows, size = x.shape
    count = samples * rows * size
    for unit in range(lo, hi):
        total = 0.0
        for i in range(samples):
            for j in range(rows):
                total += sum_of(x[i, unit, j])
        center = x.dtype.type(total / count)
        total = 0.0
        for i in range(samples):
            for j in range(rows):
                total += sum_of_squares(x[i, unit, j], center)
        mean[unit], variance[unit] = center, total / count
        scale[unit] = 1.0 / np.sqrt(total / count + eps)
        for i in range(samples):
            for j in range(rows):
                row, result = x[i, unit, j], out[i, unit, j]
                channel = (unit * rows + j) % len(weight)
                slope, shift = x.dtype.type(scale[unit]) * weight[channel], bias[channel]
                for k in range(row.size):
                    result[k] = (row[k] - center) * slope + shift


@summing
def _two_sums(row: Any, grad: Any, center: Any) -> Any:
    """Return the sum of the gradients, and of their product with the distance from the mean."""
    total = product = row.dtype.type(0)
    for j in range(row.size):
        total += grad[j]
        product += grad[j] * (row[j] - center)
    return total, product


def _gradient_of_units(
    lo: Any, hi: Any, x: Any, grad: Any, weight: Any, mean: Any, scale: Any, out: Any, weights: Any,
    biases: Any,
) -> None:  # fmt: skip
    """Write the gradients of each unit, and those of the weight and bias of each of its rows."""
    samples, _, rows, size = x.shape
    count = samples * rows * size
    for unit in range(lo, hi):
        center, factor = x.dtype.type(mean[unit]), scale[unit]
        total = product = 0.0
        for j in range(rows):
            grad_bias = grad_weight = 0.0
            for i in range(samples):
                first, second = _two_sums(x[i, unit, j], grad[i, unit, j], center)
                grad_bias += first
                grad_weight += second * factor
            index = unit * rows + j
            weights[index], biases[index] = grad_weight, grad_bias
            total += grad_bias * weight[index % len(weight)]
            product += grad_weight * weight[index % len(weight)]
        offset = x.dtype.type(factor * total / count)
        slope = x.dtype.type(factor * factor * product / count)
        for i in range(samples):
            for j in range(rows):
                row, upstream, result = x[i, unit, j], grad[i, unit, j], out[i, unit, j]
                slope_of_grad = x.dtype.type(factor * weight[(unit * rows + j) % len(weight)])
                for k in range(row.size):
                    result[k] = upstream[k] * slope_of_grad - offset - (row[k] - center) * slope


# --- Batches of single elements for each channel: arrays of shape (samples, channels) -------------

COLUMNS = 128
"""The number of channels that are processed at a time, side by side."""


def _batch_columns(
    lo: Any, hi: Any, x: Any, weight: Any, bias: Any, eps: Any, out: Any, mean: Any, variance: Any,
    scale: Any,
) -> None:  # fmt: skip
    """Normalize, scale and shift blocks of channels."""
    count, channels = x.shape
    for block in range(lo, hi):
        first, end = block * COLUMNS, min((block + 1) * COLUMNS, channels)
        centers, variances, factors = mean[first:end], variance[first:end], scale[first:end]
        slopes, shifts = weight[first:end], bias[first:end]
        centers[:] = 0
        variances[:] = 0
        for i in range(count):
            row = x[i, first:end]
            for j in range(row.size):
                centers[j] += row[j]
        for j in range(centers.size):
            centers[j] /= count
        for i in range(count):
            row = x[i, first:end]
            for j in range(row.size):
                variances[j] += (row[j] - centers[j]) * (row[j] - centers[j])
        for j in range(variances.size):
            variances[j] /= count
            factors[j] = 1.0 / np.sqrt(variances[j] + eps)
        for i in range(count):
            row, result = x[i, first:end], out[i, first:end]
            for j in range(row.size):
                result[j] = (row[j] - centers[j]) * factors[j] * slopes[j] + shifts[j]


def _batch_gradient_columns(
    lo: Any, hi: Any, x: Any, grad: Any, weight: Any, mean: Any, scale: Any, out: Any, weights: Any,
    biases: Any,
) -> None:  # fmt: skip
    """Write the gradients of blocks of channels, and of their weights and biases."""
    count, channels = x.shape
    for block in range(lo, hi):
        first, end = block * COLUMNS, min((block + 1) * COLUMNS, channels)
        centers, factors, slopes = mean[first:end], scale[first:end], weight[first:end]
        products, totals = weights[first:end], biases[first:end]
        products[:] = 0
        totals[:] = 0
        for i in range(count):
            row, upstream = x[i, first:end], grad[i, first:end]
            for j in range(row.size):
                totals[j] += upstream[j]
                products[j] += upstream[j] * ((row[j] - centers[j]) * factors[j])
        inverse_count = 1.0 / count
        for i in range(count):
            row, upstream, result = x[i, first:end], grad[i, first:end], out[i, first:end]
            for j in range(row.size):
                y = (row[j] - centers[j]) * factors[j]
                rest = (totals[j] + y * products[j]) * inverse_count
                result[j] = slopes[j] * factors[j] * (upstream[j] - rest)


_LAYER, _LAYER_GRADIENT = Kernel.of(_layer_rows), Kernel.of(_layer_gradient_parts)
_UNITS, _UNITS_GRADIENT = Kernel.of(_units), Kernel.of(_gradient_of_units)
_COLUMNS, _COLUMNS_GRADIENT = Kernel.of(_batch_columns), Kernel.of(_batch_gradient_columns)

# --- Operations on tensors ----------------------------------------------------------------------


class _Normalization(FusedKernel):
    """An operation on an input, a weight and a bias, of which the last two may be None."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensors are not empty, and of one dtype, float32 or float64."""
        return is_compiled(*arguments[:3])


def _filled(tensor: Tensor | None, size: int, number: float, like: Tensor) -> Array:
    """Return a weight or bias as a row, or a row of its default if there is none."""
    if tensor is None:
        return _row(size, number, like._tensor.layout.dtype.numpy)
    return array_of(tensor).reshape(-1)


@functools.lru_cache(64)
def _row(size: int, number: float, dtype: np.dtype[Any]) -> Array:
    """Return a cached row of one number, which kernels only read."""
    return np.full(size, number, dtype)


class _LastDimensions(_Normalization):
    """Normalization over the last dimensions: input, weight, bias, number of dimensions, eps.

    Attributes:
        is_centered: whether to subtract the mean; if not, the arguments have no bias.
    """

    def __init__(self, is_centered: bool) -> None:
        self.is_centered = is_centered

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensors are not empty, and of one dtype, float32 or float64."""
        return super().fits(*self._with_bias(arguments))

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result, and save the mean and the scale of each row."""
        x, weight, bias, folded, eps = self._with_bias(arguments)
        rows = _rows(x, folded)
        size = rows.shape[1]
        out, saved = empty_like(rows), tuple(np.empty((2, len(rows)), rows.dtype))
        factors, shifts = _filled(weight, size, 1, x), _filled(bias, size, 0, x)
        operands = rows, factors, shifts, eps, self.is_centered
        _LAYER.run(len(rows), shared(rows.size, x), *operands, out, *saved)
        return tensor_of(out.reshape(x._tensor.layout.shape), x), saved

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias."""
        x, *affine, folded, _ = self._with_bias(arguments)
        rows, upstream = _rows(x, folded), _rows(grad, folded)
        size = rows.shape[1]
        out, sums = empty_like(rows), np.empty((2, PARTS, size), rows.dtype)
        operands = rows, upstream, _filled(affine[0], size, 1, x), *saved, self.is_centered
        _LAYER_GRADIENT.run(PARTS, shared(rows.size, x), *operands, out, *sums)
        grad_affine = _affine_gradients(x, np.add.reduce(sums, 1), affine)[: len(arguments) - 3]
        return tensor_of(out.reshape(x.shape), x), *grad_affine, None, None

    def _with_bias(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the arguments with a bias among them, which is None in RMS normalization."""
        return arguments if self.is_centered else (*arguments[:2], None, *arguments[2:])


def _rows(x: Tensor, folded: int) -> Array:
    """Return a tensor as rows of the elements that are normalized together."""
    shape = x._tensor.layout.shape
    return array_of(x).reshape(-1, math.prod(shape[len(shape) - folded :]))


class _BatchNorm(_Normalization):
    """Batch normalization: input, weight, bias, eps, and a list that receives mean and variance."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result, and save the mean and the scale of each channel."""
        x, weight, bias, eps, statistics = arguments
        out, (mean, variance, scale) = _normalized(x, _channels(x), weight, bias, eps)
        dtype = x.dtype.numpy
        statistics[:] = [tensor_of(each.astype(dtype), x) for each in (mean, variance)]
        return out, (mean, scale)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias."""
        x, *affine, _, _ = arguments
        out, sums = _gradients(x, _channels(x), grad, affine[0], saved)
        return out, *_affine_gradients(x, sums, affine), None, None


class _GroupNorm(_Normalization):
    """Group normalization: input, weight, bias, number of groups, eps."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result, and save the mean and the scale of each group."""
        x, weight, bias, groups, eps = arguments
        out, (mean, _, scale) = _normalized(x, _groups(x, groups), weight, bias, eps)
        return out, (mean, scale)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias."""
        x, *affine, groups, _ = arguments
        out, sums = _gradients(x, _groups(x, groups), grad, affine[0], saved)
        return out, *_affine_gradients(x, sums.reshape(2, *x.shape[:2]).sum(1), affine), None, None


def _normalized(
    x: Tensor, units: Array, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Array]:
    """Return the normalized tensor, and the mean, the variance and the scale of each unit."""
    channels = x.shape[1]
    out, statistics = empty_like(units), np.empty((3, units.shape[1]))
    factors, shifts = _filled(weight, channels, 1, x), _filled(bias, channels, 0, x)
    kernel, count, (source, target) = _select_kernel(_UNITS, _COLUMNS, units, out)
    kernel.run(count, shared(units.size, x), source, factors, shifts, eps, target, *statistics)
    return tensor_of(out.reshape(x.shape), x), statistics


def _gradients(
    x: Tensor, units: Array, grad: Tensor, weight: Tensor | None, saved: Saved
) -> tuple[Tensor, Array]:
    """Return the gradient of the input, and of the weight and the bias of each row of units."""
    out, sums = empty_like(units), np.empty((2, units.shape[1] * units.shape[2]))
    upstream, factors = array_of(grad).reshape(units.shape), _filled(weight, x.shape[1], 1, x)
    kernel, count, (source, grad_rows, target) = _select_kernel(
        _UNITS_GRADIENT, _COLUMNS_GRADIENT, units, upstream, out
    )
    kernel.run(count, shared(units.size, x), source, grad_rows, factors, *saved, target, *sums)
    return tensor_of(out.reshape(x.shape), x), sums


def _affine_gradients(
    x: Tensor, sums: Array, affine: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """Return the sums as gradients of weight and bias, or None for one that is missing."""
    return [
        None if tensor is None else tensor_of(each.reshape(tensor.shape).astype(x.dtype.numpy), x)
        for tensor, each in zip(affine, sums, strict=True)
    ]


def _channels(x: Tensor) -> Array:
    """Return a tensor of shape (samples, channels, *rest) with a unit per channel."""
    return array_of(x).reshape(*x.shape[:2], 1, -1)


def _groups(x: Tensor, groups: int) -> Array:
    """Return a tensor of shape (samples, channels, *rest) with a unit per group."""
    samples, channels = x.shape[:2]
    return array_of(x).reshape(1, samples * groups, channels // groups, -1)


def _select_kernel(
    unit_kernel: Kernel, column_kernel: Kernel, *arrays: Array
) -> tuple[Kernel, int, tuple[Array, ...]]:
    """Return the kernel for some units, its number of work units, and the arrays to call it with.

    Channels with one element per sample are columns of a matrix, and have a kernel of their own.
    """
    samples, units, rows, size = arrays[0].shape
    if samples > rows * size == 1:
        matrices = tuple([array.reshape(samples, units) for array in arrays])
        return column_kernel, -(-units // COLUMNS), matrices
    return unit_kernel, units, arrays


LAYER_NORM, RMS_NORM = _LastDimensions(is_centered=True), _LastDimensions(is_centered=False)
BATCH_NORM, GROUP_NORM = _BatchNorm(), _GroupNorm()
