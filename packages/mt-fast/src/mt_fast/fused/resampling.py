"""Weighted sums of a few elements along a dimension, for resizing images.

A contiguous array is seen as (outer, size, inner). Along the last dimension the loop runs over the
results of a row, once for each tap; along another, over adjacent elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.tables import empty
from mt_fast.memory.arrays import array_of, is_compiled, pieces_of, shared, tensor_of
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

# --- Kernels: taps and weights have shape (taps, new size) --------------------------------------


def _sums_in_rows(lo: Any, hi: Any, x: Any, taps: Any, weights: Any, out: Any) -> None:
    """Write the weighted sums for an array of shape (rows, size)."""
    for i in range(lo, hi):
        row, result = x[i], out[i]
        for j in range(result.size):
            result[j] = row[taps[0, j]] * weights[0, j]
        for k in range(1, len(taps)):
            positions, factors = taps[k], weights[k]
            for j in range(result.size):
                result[j] += row[positions[j]] * factors[j]


def _sums_of_rows(lo: Any, hi: Any, x: Any, taps: Any, weights: Any, out: Any) -> None:
    """Write the weighted sums for an array of shape (outer, size, inner)."""
    target = out.shape[1]
    for unit in range(lo, hi):
        i, j = unit // target, unit % target
        result, piece, factor = out[i, j], x[i, taps[0, j]], weights[0, j]
        for n in range(result.size):
            result[n] = piece[n] * factor
        for k in range(1, len(taps)):
            piece, factor = x[i, taps[k, j]], weights[k, j]
            for n in range(result.size):
                result[n] += piece[n] * factor


def _gradient_in_rows(lo: Any, hi: Any, grad: Any, taps: Any, weights: Any, out: Any) -> None:
    """Write the gradients for an array of shape (rows, size)."""
    for i in range(lo, hi):
        upstream, result = grad[i], out[i]
        result[:] = 0
        for k in range(len(taps)):
            positions, factors = taps[k], weights[k]
            for j in range(upstream.size):
                result[positions[j]] += upstream[j] * factors[j]


def _gradient_of_rows(lo: Any, hi: Any, grad: Any, taps: Any, weights: Any, out: Any) -> None:
    """Write the gradients for an array of shape (outer, size, inner)."""
    for i in range(lo, hi):
        out[i] = 0
        for j in range(grad.shape[1]):
            upstream = grad[i, j]
            for k in range(len(taps)):
                result, factor = out[i, taps[k, j]], weights[k, j]
                for n in range(upstream.size):
                    result[n] += upstream[n] * factor


_IN_ROWS, _OF_ROWS = Kernel.of(_sums_in_rows), Kernel.of(_sums_of_rows)
_IN_ROWS_GRADIENT, _OF_ROWS_GRADIENT = Kernel.of(_gradient_in_rows), Kernel.of(_gradient_of_rows)

# --- The operation --------------------------------------------------------------------------------


class _Resample(FusedKernel):
    """Resampling of an input along a dimension, with taps and weights."""

    reads = (2, 3)

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensors are not empty, and of one dtype, float32 or float64."""
        return is_compiled(arguments[0], arguments[3])

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the weighted sums."""
        x, dim, taps, weights = arguments
        pieces = pieces_of(array_of(x), dim)
        outer, _, inner = pieces.shape
        target = taps.shape[0]
        out = empty((*x.shape[:dim], target, *x.shape[dim + 1 :]), pieces.dtype)
        result, parallel = out.reshape(outer, target, inner), shared(out.size, x)
        positions, factors = _by_tap(taps, weights)
        if inner == 1:
            rows = pieces.reshape(outer, -1), positions, factors, result.reshape(outer, -1)
            _IN_ROWS.run(outer, parallel, *rows)
        else:
            _OF_ROWS.run(outer * target, parallel, pieces, positions, factors, result)
        return tensor_of(out, x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the input."""
        x, dim, taps, weights = arguments
        upstream = pieces_of(array_of(grad), dim)
        outer, _, inner = upstream.shape
        out = empty(x.shape, upstream.dtype)
        result, parallel = pieces_of(out, dim), shared(upstream.size, x)
        positions, factors = _by_tap(taps, weights)
        if inner == 1:
            rows = upstream.reshape(outer, -1), positions, factors, result.reshape(outer, -1)
            _IN_ROWS_GRADIENT.run(outer, parallel, *rows)
        else:
            _OF_ROWS_GRADIENT.run(outer, parallel, upstream, positions, factors, result)
        return tensor_of(out, x), None, None, None


def _by_tap(taps: Tensor, weights: Tensor) -> tuple[Array, Array]:
    """Return taps as unsigned integers, which need no test for negative indices, and weights.

    Both have shape (taps, new size).
    """
    positions, factors = (np.ascontiguousarray(each._tensor.array.T) for each in (taps, weights))
    return positions.view(np.uint64), factors


RESAMPLE = _Resample()
