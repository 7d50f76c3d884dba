"""Pooling of images on arrays: the k-th elements of all windows are one strided view.

Windows are reduced along their rows, and the results along the columns. This takes one step over
whole arrays for each row and each column of a window, in blocks of planes that fit into the cache.

Planes have shape (planes, height, width); the size, stride and padding of windows are pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_supported, array_of, tensor_of
from mt_tensor.backends.extending import no_warnings, parts, split
from mt_tensor.extending import Array, FusedKernel, Shape

Pair = tuple[int, int]

# --- Windows --------------------------------------------------------------------------------------


def _padded(planes: Array, padding: Pair, value: float) -> Array:
    """Pad planes with a value on each side."""
    if not any(padding):
        return planes
    (top, left), (n, height, width) = padding, planes.shape
    out = np.full((n, height + 2 * top, width + 2 * left), value, planes.dtype)
    out[:, top : top + height, left : left + width] = planes
    return out


def _taps(array: Array, dim: int, size: int, step: int) -> Iterator[Array]:
    """Yield the elements at each position of a window along a dimension, for all windows."""
    last = (array.shape[dim] - size) // step * step
    index = [slice(None)] * array.ndim
    for first in range(size):
        index[dim] = slice(first, first + last + 1, step)
        yield array[tuple(index)]


def _combined(combine: np.ufunc, planes: Array, size: Pair, stride: Pair) -> Array:
    """Reduce the elements of each window with a ufunc."""
    if size == planes.shape[1:]:
        reduced: Array = combine.reduce(planes, (1, 2), keepdims=True)
        return reduced
    for dim in (1, 2):  # rows first, which are contiguous
        first, *others = _taps(planes, dim, size[dim - 1], stride[dim - 1])
        planes = combine(first, others[0]) if others else first
        for other in others[1:]:
            combine(planes, other, out=planes)
    return planes


def _pooled_size(size: Shape, window: Pair, stride: Pair, padding: Pair) -> Shape:
    each_dim = zip(size, window, stride, padding, strict=True)
    return tuple((length + 2 * edge - span) // step + 1 for length, span, step, edge in each_dim)


# --- Max pooling ----------------------------------------------------------------------------------


def max_pool(planes: Array, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the largest element of each window; nan if it contains nan."""
    shape = _pooled_size(planes.shape[1:], size, stride, padding)
    out = np.empty((len(planes), *shape), planes.dtype)
    for part in parts(len(planes), math.prod(planes.shape[1:])):
        padded = _padded(planes[part], padding, -math.inf)
        out[part] = _combined(np.maximum, padded, size, stride)
    return out


def max_gradient(
    grad: Array, planes: Array, pooled: Array, size: Pair, stride: Pair, padding: Pair
) -> Array:
    """Return the gradient of planes: that of a window goes to the first of its largest elements."""
    (top, left), (_, height, width) = padding, planes.shape
    out = np.empty_like(planes)
    for part in parts(len(planes), math.prod(planes.shape[1:])):
        padded, largest = _padded(planes[part], padding, -math.inf), pooled[part]
        has_nan = bool(np.isnan(largest).any())
        remaining = grad[part]
        result = np.zeros_like(padded)
        for rows, row_targets in _pairs_of_taps(padded, result, 1, size, stride):
            for elements, target in _pairs_of_taps(rows, row_targets, 2, size, stride):
                is_largest = elements == largest
                if has_nan:
                    is_largest |= np.isnan(elements)
                term, remaining = split(is_largest, remaining)
                np.add(target, term, out=target)
        out[part] = result[:, top : top + height, left : left + width]
    return out


def _pairs_of_taps(
    array: Array, other: Array, dim: int, size: Pair, stride: Pair
) -> Iterator[tuple[Array, Array]]:
    """Yield the `_taps` of two arrays of one shape, in pairs."""
    settings = (dim, size[dim - 1], stride[dim - 1])
    return zip(_taps(array, *settings), _taps(other, *settings), strict=True)


# --- Average pooling ------------------------------------------------------------------------------


def mean_pool(planes: Array, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the mean of each window."""
    shape = _pooled_size(planes.shape[1:], size, stride, padding)
    out = np.empty((len(planes), *shape), planes.dtype)
    for part in parts(len(planes), math.prod(planes.shape[1:])):
        padded = _padded(planes[part], padding, 0.0)
        np.divide(_combined(np.add, padded, size, stride), math.prod(size), out=out[part])
    return out


def mean_gradient(grad: Array, lengths: Shape, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the gradient of planes: that of a window is divided evenly among its elements."""
    (top, left), (height, width) = padding, lengths
    out = np.empty((len(grad), *lengths), grad.dtype)
    for part in parts(len(out), math.prod(lengths)):
        scaled = grad[part] / math.prod(size)
        if size == lengths and not any(padding):  # one window, of the whole plane
            out[part] = scaled
            continue
        columns = np.zeros((*scaled.shape[:2], width + 2 * left), grad.dtype)
        for target in _taps(columns, 2, size[1], stride[1]):
            np.add(target, scaled, out=target)
        result = np.zeros((len(scaled), height + 2 * top, width + 2 * left), grad.dtype)
        for target in _taps(result, 1, size[0], stride[0]):
            np.add(target, columns, out=target)
        out[part] = result[:, top : top + height, left : left + width]
    return out


# --- Named operations -----------------------------------------------------------------------------


class _Pooling(FusedKernel):
    """Base of pooling; the arguments are images, and the size, stride and padding of windows."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether the images are non-empty, and float32 or float64."""
        return are_supported(arguments[0])


class MaxPooling(_Pooling):
    """Max pooling."""

    reads = (0,)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the result, and save a copy, since the result may be modified in place."""
        x, *settings = arguments
        result = _images(no_warnings().run(max_pool, _planes(x), *settings), x)
        return result, (result.clone(),) if needs[0] else ()

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradient of the images."""
        x, *settings = arguments
        planes = (_planes(grad), _planes(x), _planes(saved[0]))
        return _images(no_warnings().run(max_gradient, *planes, *settings), x), None, None, None


class MeanPooling(_Pooling):
    """Average pooling."""

    reads = ()

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the mean of each window."""
        x, *settings = arguments
        return _images(no_warnings().run(mean_pool, _planes(x), *settings), x), ()

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradient of the images."""
        x, *settings = arguments
        result = no_warnings().run(mean_gradient, _planes(grad), x.shape[2:], *settings)
        return _images(result, x), None, None, None


def _planes(images: Any) -> Array:
    array = array_of(images)
    return array.reshape(-1, *array.shape[2:])


def _images(planes: Array, like: Any) -> Any:
    return tensor_of(planes.reshape(*like.shape[:2], *planes.shape[1:]), like)


KERNELS: dict[str, FusedKernel] = {"avg_pool2d": MeanPooling(), "max_pool2d": MaxPooling()}
"""Kernels by name of the operation."""
