"""Pooling images, on arrays: the k-th elements of all windows are one strided view.

A window of k elements takes k steps over whole arrays, each on some planes at a time that stay in
the processor's cache.

Planes have shape (planes, height, width); a window's size, stride and padding are pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mt_nn.kernels.numpy.tensors import (
    Needs,
    Saved,
    are_computed,
    array_of,
    inside,
    padded,
    tensor_of,
)
from mt_tensor.backends.extending import no_warnings, parts, split
from mt_tensor.extending import Array, FusedKernel, Shape

Pair = tuple[int, int]


def _taps(planes: Array, size: Pair, stride: Pair) -> Iterator[Array]:
    """Yield, for each place in a window, a view of what all windows have there."""
    high, wide = (
        (length - seen) // step * step + 1
        for length, seen, step in zip(planes.shape[1:], size, stride, strict=True)
    )
    for i, j in np.ndindex(size):
        yield planes[:, i : i + high : stride[0], j : j + wide : stride[1]]


def _pooled(
    combine: np.ufunc, planes: Array, size: Pair, stride: Pair, padding: Pair, value: float
) -> Array:
    """Return the elements of each window, combined; beyond the planes they are `value`."""
    out = []
    for part in parts(len(planes), math.prod(planes.shape[1:])):
        seen = padded(planes[part], padding, value)
        if size == seen.shape[1:]:
            out.append(combine.reduce(seen, (1, 2), keepdims=True))
            continue
        first, *others = _taps(seen, size, stride)
        pooled = first.copy()
        for other in others:
            combine(pooled, other, out=pooled)
        out.append(pooled)
    return np.concatenate(out) if len(out) > 1 else out[0]


def max_pool(planes: Array, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the largest element of each window; nan, if there is one."""
    return _pooled(np.maximum, planes, size, stride, padding, -math.inf)


def max_gradient(
    grad: Array, planes: Array, pooled: Array, size: Pair, stride: Pair, padding: Pair
) -> Array:
    """Return the gradient of planes: each window's goes to the first of its largest elements."""
    out = np.empty_like(planes)
    for part in parts(len(planes), math.prod(planes.shape[1:])):
        seen, largest = padded(planes[part], padding, -math.inf), pooled[part]
        unknown = bool(np.isnan(largest).any())
        left_over, result = grad[part], np.zeros_like(seen)
        pairs = zip(_taps(seen, size, stride), _taps(result, size, stride), strict=True)
        for elements, target in pairs:
            is_largest = elements == largest
            if unknown:
                is_largest |= np.isnan(elements)
            share, left_over = split(is_largest, left_over)
            np.add(target, share, out=target)
        out[part] = inside(result, padding)
    return out


def mean_pool(planes: Array, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the mean of each window."""
    sums = _pooled(np.add, planes, size, stride, padding, 0.0)
    return np.divide(sums, math.prod(size), out=sums)


def mean_gradient(grad: Array, lengths: Shape, size: Pair, stride: Pair, padding: Pair) -> Array:
    """Return the gradient of planes: each element gets an even share of that of its windows."""
    out = np.empty((len(grad), *lengths), grad.dtype)
    for part in parts(len(out), math.prod(lengths)):
        share = grad[part] / math.prod(size)
        if size == lengths and not any(padding):  # one window, of the whole plane
            out[part] = share
            continue
        result = padded(np.zeros_like(out[part]), padding)
        for target in _taps(result, size, stride):
            np.add(target, share, out=target)
        out[part] = inside(result, padding)
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
