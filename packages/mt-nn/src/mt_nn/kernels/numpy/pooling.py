"""Pooling images, on arrays: the k-th elements of all windows are one strided view.

A window's largest element is that of its rows, and their largest elements; so is a sum. That takes
as many steps over whole arrays as a window has rows and columns, each on some planes at a time that
stay in the processor's cache.

Planes have shape (planes, height, width); a window's size, stride and padding are pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mt_nn.kernels.numpy.tensors import Needs, Saved, are_computed, array_of, tensor_of
from mt_tensor.backends.extending import no_warnings, parts, split
from mt_tensor.extending import Array, FusedKernel, Shape

Pair = tuple[int, int]

# --- Windows --------------------------------------------------------------------------------------


def _padded(planes: Array, padding: Pair, value: float) -> Array:
    """Return planes with a value added on each side."""
    if not any(padding):
        return planes
    (top, left), (n, height, width) = padding, planes.shape
    out = np.full((n, height + 2 * top, width + 2 * left), value, planes.dtype)
    out[:, top : top + height, left : left + width] = planes
    return out


def _taps(array: Array, dim: int, size: int, step: int) -> Iterator[Array]:
    """Yield, for each place of a window along a dimension, the elements that all windows see."""
    last = (array.shape[dim] - size) // step * step
    index = [slice(None)] * array.ndim
    for place in range(size):
        index[dim] = slice(place, place + last + 1, step)
        yield array[tuple(index)]


def _combined(combine: np.ufunc, planes: Array, size: Pair, stride: Pair) -> Array:
    """Return the elements that each window sees, combined."""
    if size == planes.shape[1:]:
        whole: Array = combine.reduce(planes, (1, 2), keepdims=True)
        return whole
    for dim in (1, 2):  # rows first, which lie side by side
        first, *others = _taps(planes, dim, size[dim - 1], stride[dim - 1])
        planes = combine(first, others[0]) if others else first
        for other in others[1:]:
            combine(planes, other, out=planes)
    return planes


def _pooled_size(size: Shape, window: Pair, stride: Pair, padding: Pair) -> Shape:
    every = zip(size, window, stride, padding, strict=True)
    return tuple((length + 2 * edge - seen) // step + 1 for length, seen, step, edge in every)


# --- The largest elements -------------------------------------------------------------------------


def max_pool(planes: Array, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the largest element of each window; nan, if there is one."""
    shape = _pooled_size(planes.shape[1:], size, stride, padding)
    out = np.empty((len(planes), *shape), planes.dtype)
    for part in parts(len(planes), math.prod(planes.shape[1:])):
        seen = _padded(planes[part], padding, -math.inf)
        out[part] = _combined(np.maximum, seen, size, stride)
    return out


def max_gradient(
    grad: Array, planes: Array, pooled: Array, size: Pair, stride: Pair, padding: Pair
) -> Array:
    """Return the gradient of planes: each window's goes to the first of its largest elements."""
    (top, left), (_, height, width) = padding, planes.shape
    out = np.empty_like(planes)
    for part in parts(len(planes), math.prod(planes.shape[1:])):
        seen, largest = _padded(planes[part], padding, -math.inf), pooled[part]
        unknown = bool(np.isnan(largest).any())
        left_over = grad[part]
        result = np.zeros_like(seen)
        for rows, into in _pairs_of_taps(seen, result, 1, size, stride):
            for elements, target in _pairs_of_taps(rows, into, 2, size, stride):
                is_largest = elements == largest
                if unknown:
                    is_largest |= np.isnan(elements)
                share, left_over = split(is_largest, left_over)
                np.add(target, share, out=target)
        out[part] = result[:, top : top + height, left : left + width]
    return out


def _pairs_of_taps(
    array: Array, other: Array, dim: int, size: Pair, stride: Pair
) -> Iterator[tuple[Array, Array]]:
    """Yield what windows see of two arrays alike."""
    settings = (dim, size[dim - 1], stride[dim - 1])
    return zip(_taps(array, *settings), _taps(other, *settings), strict=True)


# --- Means ----------------------------------------------------------------------------------------


def mean_pool(planes: Array, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the mean of each window."""
    shape = _pooled_size(planes.shape[1:], size, stride, padding)
    out = np.empty((len(planes), *shape), planes.dtype)
    for part in parts(len(planes), math.prod(planes.shape[1:])):
        seen = _padded(planes[part], padding, 0.0)
        np.divide(_combined(np.add, seen, size, stride), math.prod(size), out=out[part])
    return out


def mean_gradient(grad: Array, lengths: Shape, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the gradient of planes: each element gets an even share of that of its windows."""
    (top, left), (height, width) = padding, lengths
    out = np.empty((len(grad), *lengths), grad.dtype)
    for part in parts(len(out), math.prod(lengths)):
        share = grad[part] / math.prod(size)
        if size == lengths and not any(padding):  # one window, of the whole plane
            out[part] = share
            continue
        columns = np.zeros((*share.shape[:2], width + 2 * left), grad.dtype)
        for target in _taps(columns, 2, size[1], stride[1]):
            np.add(target, share, out=target)
        result = np.zeros((len(share), height + 2 * top, width + 2 * left), grad.dtype)
        for target in _taps(result, 1, size[0], stride[0]):
            np.add(target, columns, out=target)
        out[part] = result[:, top : top + height, left : left + width]
    return out


# --- Named operations -----------------------------------------------------------------------------


class _Pooling(FusedKernel):
    """Images, and the size, stride and padding of windows."""

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, and float16, which would be added up in itself, to the composition."""
        return are_computed(arguments[0])


class MaxPooling(_Pooling):
    """The largest element of each window."""

    reads = (0,)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return them, and a copy that the gradient reads: the result may be changed in place."""
        x, *settings = arguments
        result = _images(no_warnings().run(max_pool, _planes(x), *settings), x)
        return result, (result.clone(),) if needs[0] else ()

    def gradient(self, grad: Any, saved: Saved, needs: Needs, *arguments: Any) -> Sequence[Any]:
        """Return the gradient of the images."""
        x, *settings = arguments
        planes = (_planes(grad), _planes(x), _planes(saved[0]))
        return _images(no_warnings().run(max_gradient, *planes, *settings), x), None, None, None


class MeanPooling(_Pooling):
    """The mean of each window."""

    reads = ()

    def value(self, needs: Needs, *arguments: Any) -> tuple[Any, Saved]:
        """Return the means."""
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
"""The kernels by the name of the operation."""
