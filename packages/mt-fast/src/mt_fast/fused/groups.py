"""Group normalization, forward and backward: channels of a sample normalized together.

A group lies in a row, so that its statistics are those of a layer; weight and bias belong to its
channels, each a shorter row. The formula of the gradient is that of `fused/normalization.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.fused.normalization import Normalization, filled, two_sums
from mt_fast.fused.rows import sum_of, sum_of_squares
from mt_fast.memory.aligned import empty_like
from mt_fast.memory.arrays import array_of, shared, tensor_of
from mt_tensor import Tensor


def _group_rows(
    lo: Any,
    hi: Any,
    x: Any,
    planes: Any,
    weight: Any,
    bias: Any,
    eps: Any,
    out: Any,
    mean: Any,
    scale: Any,
) -> None:
    """Write each group normalized, and its channels scaled and shifted.

    Groups are rows of `x`, and channels rows of `planes`, which is the same memory.
    """
    members = len(planes) // len(x)
    for group in range(lo, hi):
        row = x[group]
        center = sum_of(row) / row.dtype.type(row.size)
        variance = sum_of_squares(row, center) / row.dtype.type(row.size)
        factor = row.dtype.type(1) / np.sqrt(variance + row.dtype.type(eps))
        mean[group], scale[group] = center, factor
        for i in range(group * members, (group + 1) * members):
            channel = i % len(weight)
            plane, result = planes[i], out[i]
            slope, shift = factor * weight[channel], bias[channel]
            for j in range(plane.size):
                result[j] = (plane[j] - center) * slope + shift


def _group_gradient_rows(
    lo: Any,
    hi: Any,
    planes: Any,
    grad: Any,
    weight: Any,
    mean: Any,
    scale: Any,
    out: Any,
    weights: Any,
    biases: Any,
) -> None:
    """Write the gradients of each group, and its share in those of weight and bias."""
    members = len(planes) // len(mean)
    count = members * planes.shape[1]
    for group in range(lo, hi):
        center, factor = mean[group], scale[group]
        total = product = 0.0
        for i in range(group * members, (group + 1) * members):
            channel = i % len(weight)
            first, second = two_sums(planes[i], grad[i], center)
            biases[i], weights[i] = first, second * factor
            total += first * weight[channel]
            product += second * factor * weight[channel]
        offset, slope = planes.dtype.type(total / count), planes.dtype.type(product / count)
        for i in range(group * members, (group + 1) * members):
            plane, upstream, result = planes[i], grad[i], out[i]
            share = weight[i % len(weight)]
            for j in range(plane.size):
                y = (plane[j] - center) * factor
                result[j] = factor * (upstream[j] * share - offset - y * slope)


_GROUPS, _GRADIENT = Kernel.of(_group_rows), Kernel.of(_group_gradient_rows)


class _GroupNorm(Normalization):
    """Groups of channels normalized: input, weight, bias, how many groups, eps."""

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the result; the gradient reads mean and scale of each group."""
        x, weight, bias, groups, eps = arguments
        array = array_of(x)
        samples, channels = array.shape[:2]
        rows, planes = array.reshape(samples * groups, -1), array.reshape(samples * channels, -1)
        out, (mean, scale) = empty_like(planes), np.empty((2, len(rows)), array.dtype)
        factors, shifts = filled(weight, channels, 1, x), filled(bias, channels, 0, x)
        results = out, mean, scale
        parallel = shared(array.size, x)
        _GROUPS.run(len(rows), parallel, rows, planes, factors, shifts, eps, *results)
        return tensor_of(out.reshape(x.shape), x), (mean, scale)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of the elements, the weight and the bias."""
        x, weight, bias, _, _ = arguments
        samples, channels = x.shape[:2]
        planes, upstream = (array_of(t).reshape(samples * channels, -1) for t in (x, grad))
        out = empty_like(planes)
        weights, biases = np.empty((2, samples * channels), planes.dtype)
        factors, parallel = filled(weight, channels, 1, x), shared(planes.size, x)
        results = out, weights, biases
        _GRADIENT.run(len(saved[0]), parallel, planes, upstream, factors, *saved, *results)
        sums = [
            None if tensor is None else tensor_of(parts.reshape(samples, channels).sum(0), x)
            for tensor, parts in ((weight, weights), (bias, biases))
        ]
        return tensor_of(out.reshape(x.shape), x), *sums, None, None


GROUP_NORM = _GroupNorm()
