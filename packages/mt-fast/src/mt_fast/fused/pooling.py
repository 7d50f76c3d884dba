"""Pooling in two steps: reduce over the rows of a row of windows, then over columns.

The first step runs over whole contiguous rows of the image into a buffer that includes the padding;
only the second step jumps from window to window. No inner loop tests for the padding. Windows that
halve an image have kernels of their own (`halving.py`). The mean of a whole image is the backend's
sum.

Inner loops count and index with unsigned integers. Signed indices would be tested for negative
values, as in Python, and the loops would not be vectorized.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.lowering import maximum
from mt_fast.core.tables import empty
from mt_fast.fused import halving
from mt_fast.fused.halving import Pair
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_operators import OPERATORS
from mt_tensor import Tensor, TensorData
from mt_tensor.backends.extending import row_major
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved, Shape

LARGEST_PLANE = 2**31 - 1
"""The largest number of elements of a plane whose positions fit in int32."""

# --- Kernels on planes: arrays of shape (images * channels, height, width) ------------------------


def _pool_planes(
    lo: Any, hi: Any, x: Any, size: Any, stride: Any, padding: Any, largest: Any, out: Any
) -> None:
    """Write the maximum or the mean of each window."""
    height, width, rows = x.shape[1], np.uintp(x.shape[2]), out.shape[1]
    outputs, step, padded = np.uintp(out.shape[2]), np.uintp(stride[1]), np.uintp(padding[1])
    start = x.dtype.type(-np.inf if largest else 0)
    scale = x.dtype.type(1.0 / (size[0] * size[1]))
    folded = np.empty(width + padded + padded, x.dtype)
    for plane in range(lo, hi):
        for i in range(rows):
            folded[:] = start
            for h in range(i * stride[0] - padding[0], i * stride[0] - padding[0] + size[0]):
                if h < 0 or h >= height:
                    continue
                if largest:
                    for j in range(width):
                        folded[padded + j] = maximum(folded[padded + j], x[plane, h, j])
                else:
                    for j in range(width):
                        folded[padded + j] += x[plane, h, j]
            result = out[plane, i]
            for j in range(outputs):
                result[j] = folded[j * step]
            for q in range(np.uintp(1), np.uintp(size[1])):  # the inner loop has no dependencies
                for j in range(outputs):
                    value = folded[j * step + q]
                    result[j] = maximum(result[j], value) if largest else result[j] + value
            if not largest:
                result *= scale


def _argmax_planes(
    lo: Any, hi: Any, x: Any, rows: Any, columns: Any, out: Any, position: Any
) -> None:
    """Write the maximum of each window, and its first position in the plane.

    Nan is larger than any number. The code has no branches on elements, since these could not be
    predicted.

    Args:
        lo: the first plane.
        hi: the plane after the last.
        x: planes.
        rows: the rows of the windows, see `_taps`.
        columns: the columns of the windows.
        out: the maxima.
        position: the positions of the maxima.
    """
    width, outputs = np.uintp(x.shape[2]), np.uintp(position.shape[2])
    folded, indices = np.empty(width, x.dtype), np.empty(width, np.int32)
    for plane in range(lo, hi):
        for i in range(rows.shape[0]):
            row = x[plane, rows[i, 0]]
            first = np.int32(rows[i, 0]) * np.int32(width)
            for j in range(width):
                folded[j] = row[j]
                indices[j] = first + np.int32(j)
            for h in rows[i, 1:]:
                row, first = x[plane, h], np.int32(h) * np.int32(width)
                for j in range(width):
                    value, largest = row[j], folded[j]
                    wins = (value > largest) | ((value != value) & (largest == largest))
                    folded[j] = value if wins else largest
                    indices[j] = first + np.int32(j) if wins else indices[j]
            for j in range(outputs):
                largest, index = folded[columns[j, 0]], indices[columns[j, 0]]
                for q in range(np.uintp(1), np.uintp(columns.shape[1])):
                    value, other = folded[columns[j, q]], indices[columns[j, q]]
                    equal = (value == largest) | ((value != value) & (largest != largest))
                    wins = (value > largest) | ((value != value) & (largest == largest))
                    wins |= equal & (other < index)
                    largest = value if wins else largest
                    index = other if wins else index
                position[plane, i, j] = index
                out[plane, i, j] = largest


def _max_gradient_planes(lo: Any, hi: Any, grad: Any, position: Any, out: Any) -> None:
    """Add the gradient of each window at the position of its maximum; planes are flat."""
    for plane in range(lo, hi):
        out[plane] = 0
        for j in range(grad.shape[1]):
            out[plane, np.uintp(position[plane, j])] += grad[plane, j]


def _mean_gradient_planes(
    lo: Any, hi: Any, grad: Any, size: Any, stride: Any, padding: Any, out: Any
) -> None:
    """Write the gradient of the image: each element receives a share from each of its windows."""
    height, width = out.shape[1], np.uintp(out.shape[2])
    outputs, step, padded = np.uintp(grad.shape[2]), np.uintp(stride[1]), np.uintp(padding[1])
    scale = grad.dtype.type(1.0 / (size[0] * size[1]))
    scattered = np.empty(width + padded + padded, grad.dtype)
    for plane in range(lo, hi):
        out[plane] = 0
        for i in range(grad.shape[1]):
            upstream = grad[plane, i]
            scattered[:] = 0
            for q in range(np.uintp(size[1])):  # the inner loop has no dependencies
                for j in range(outputs):
                    scattered[j * step + q] += upstream[j] * scale
            for h in range(i * stride[0] - padding[0], i * stride[0] - padding[0] + size[0]):
                if 0 <= h < height:
                    for j in range(width):
                        out[plane, h, j] += scattered[padded + j]


_POOL = Kernel.of(_pool_planes, allocates=True)
_ARGMAX = Kernel.of(_argmax_planes, allocates=True)
_MAX_GRADIENT = Kernel.of(_max_gradient_planes)
_MEAN_GRADIENT = Kernel.of(_mean_gradient_planes, allocates=True)

# --- Operations on tensors ------------------------------------------------------------------------


class _Pooling(FusedKernel):
    """Max or mean pooling of images: images, size, stride, padding.

    Attributes:
        largest: whether to take the maximum of each window instead of the mean.
    """

    reads = ()

    def __init__(self, largest: bool) -> None:
        self.largest = largest

    def fits(self, *arguments: Any) -> bool:
        """Return whether images are float32 or float64, not empty, and indexed by int32."""
        x: Tensor = arguments[0]
        return is_compiled(x) and math.prod(x._tensor.layout.shape[-2:]) <= LARGEST_PLANE

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the pooled images, and save the positions of the maxima if they are needed."""
        x, size, stride, padding = arguments
        shape, pooled = _shapes(x._tensor.layout.shape, size, stride, padding)
        if not self.largest and _is_global(x, size, padding):
            means = x.backend.reduce(OPERATORS["add"], x._tensor, (2, 3), True)
            means.array[...] *= means.dtype.numpy.type(1.0 / math.prod(size))
            return Tensor._make(means, x.backend), ()
        planes, parallel = _planes(array_of(x)), shared(x.numel(), x)
        out = empty(pooled, planes.dtype)
        saved: tuple[Any, ...] = ()
        windows = size, stride, padding
        halved = halving.halves(*windows)
        if self.largest and needs[0]:
            saved = (np.empty(out.shape, np.uint8 if halved else np.int32),)
            taps = () if halved else _taps_of(x.shape[2:], pooled[1:], *windows)
            kernel, arguments = halving.CHOICES if halved else _ARGMAX, taps
        elif halved:
            kernel, arguments = halving.POOL, (self.largest,)
        else:
            kernel, arguments = _POOL, (*windows, self.largest)
        kernel.run(len(planes), parallel, planes, *arguments, out, *saved)
        return tensor_of(out.reshape(shape), x), saved

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the images."""
        x, *settings = arguments
        if not self.largest and _is_global(x, settings[0], settings[2]):
            scaled = array_of(grad) * x.dtype.numpy.type(1.0 / math.prod(settings[0]))
            expanded = TensorData.of(scaled, row_major(scaled.shape, x.dtype)).expand(x.shape)
            scattered = x.backend.copy(expanded, expanded.layout.contiguous)
            return Tensor._make(scattered, x.backend), None, None, None
        out = empty(x.shape, x.dtype.numpy)
        targets, upstream, parallel = _planes(out), _planes(array_of(grad)), shared(x.numel(), x)
        if self.largest and halving.halves(*settings):
            halving.MAX_GRADIENT.run(len(targets), parallel, upstream, saved[0], targets)
        elif self.largest:
            flat = [array.reshape(len(targets), -1) for array in (upstream, saved[0], targets)]
            _MAX_GRADIENT.run(len(targets), parallel, *flat)
        elif halving.halves(*settings):
            halving.MEAN_GRADIENT.run(len(targets), parallel, upstream, targets)
        else:
            _MEAN_GRADIENT.run(len(targets), parallel, upstream, *settings, targets)
        return tensor_of(out, x), *[None] * len(settings)


def _is_global(x: Tensor, size: Pair, padding: Pair) -> bool:
    """Return whether the only window is the whole image."""
    return x.shape[2:] == size and padding == (0, 0)


def _planes(images: Array) -> Array:
    """Return images of shape (batch, channels, height, width) as planes."""
    batch, channels, height, width = images.shape
    return images.reshape(batch * channels, height, width)


@functools.lru_cache(1024)
def _shapes(
    images: Shape, size: Pair, stride: Pair, padding: Pair
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shape of the result, and the shape of its planes."""
    batch, channels, *plane = images
    lengths = zip(plane, size, stride, padding, strict=True)
    pooled = [(n + 2 * padded - k) // step + 1 for n, k, step, padded in lengths]
    return (batch, channels, *pooled), (batch * channels, *pooled)


@functools.lru_cache(256)
def _taps_of(
    lengths: Shape, counts: Shape, size: Pair, stride: Pair, padding: Pair
) -> tuple[Array, Array]:
    """Return the rows and the columns of the windows, each of shape (windows, taps).

    Those in the padding are replaced by the first one that is not.
    """
    first, second = zip(lengths, counts, size, stride, padding, strict=True)
    return _taps(*first), _taps(*second)


def _taps(length: int, count: int, size: int, step: int, padded: int) -> Array:
    taps = step * np.arange(count)[:, None] + np.arange(size) - padded
    seen: Array = np.where(taps < length, np.maximum(taps, 0), np.maximum(taps[:, :1], 0))
    return seen


MAX_POOL, MEAN_POOL = _Pooling(largest=True), _Pooling(largest=False)
