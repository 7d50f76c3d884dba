"""Weighted sums of a few elements along a dimension, for resizing images.

What lies in a row is seen as (outer, size, inner). Along the last dimension a loop runs over the
results of a row, once for each of their taps; along another, over elements that lie side by side.
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
    """Write the sums of rows, of arrays of shape (rows, size)."""
    for i in range(lo, hi):
        row, result = x[i], out[i]
        for j in range(result.size):
            result[j] = row[taps[0, j]] * weights[0, j]
        for k in range(1, len(taps)):
            places, factors = taps[k], weights[k]
            for j in range(result.size):
                result[j] += row[places[j]] * factors[j]


def _sums_of_rows(lo: Any, hi: Any, x: Any, taps: Any, weights: Any, out: Any) -> None:
    """Write sums of pieces, of arrays of shape (outer, size, inner)."""
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
    """Write the gradients of rows."""
    for i in range(lo, hi):
        upstream, result = grad[i], out[i]
        result[:] = 0
        for k in range(len(taps)):
            places, factors = taps[k], weights[k]
            for j in range(upstream.size):
                result[places[j]] += upstream[j] * factors[j]


def _gradient_of_rows(lo: Any, hi: Any, grad: Any, taps: Any, weights: Any, out: Any) -> None:
    """Write the gradients of pieces."""
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
    """Input, dimension, taps and weights."""

    reads = (2, 3)

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16 and mixed types to the composition."""
        x, _, _, weights = arguments
        return is_compiled(x, weights) and x.dtype is weights.dtype

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the sums."""
        x, dim, taps, weights = arguments
        pieces = pieces_of(array_of(x), dim)
        outer, _, inner = pieces.shape
        target = taps.shape[0]
        out = empty((*x.shape[:dim], target, *x.shape[dim + 1 :]), pieces.dtype)
        result, parallel = out.reshape(outer, target, inner), shared(out.size, x)
        places, factors = _by_tap(taps, weights)
        if inner == 1:
            rows = pieces.reshape(outer, -1), places, factors, result.reshape(outer, -1)
            _IN_ROWS.run(outer, parallel, *rows)
        else:
            _OF_ROWS.run(outer * target, parallel, pieces, places, factors, result)
        return tensor_of(out, x), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the input."""
        x, dim, taps, weights = arguments
        upstream = pieces_of(array_of(grad), dim)
        outer, _, inner = upstream.shape
        out = empty(x.shape, upstream.dtype)
        result, parallel = pieces_of(out, dim), shared(upstream.size, x)
        places, factors = _by_tap(taps, weights)
        if inner == 1:
            rows = upstream.reshape(outer, -1), places, factors, result.reshape(outer, -1)
            _IN_ROWS_GRADIENT.run(outer, parallel, *rows)
        else:
            _OF_ROWS_GRADIENT.run(outer, parallel, upstream, places, factors, result)
        return tensor_of(out, x), None, None, None


def _by_tap(taps: Tensor, weights: Tensor) -> tuple[Array, Array]:
    """Return taps, as numbers that are not looked at for being negative, and weights in rows."""
    places, factors = (np.ascontiguousarray(each._tensor.array.T) for each in (taps, weights))
    return places.view(np.uint64), factors


RESAMPLE = _Resample()
