"""Pooling of windows of 2 x 2 that lie side by side: what halves an image in most networks.

Each output is made of two neighbours in one row and the two below them, and no element belongs to
two windows. So there is nothing to set up for a row of windows, and nothing to jump over: LLVM
takes eight or sixteen windows at once, which `pooling.py`, for windows of any kind, cannot have it
do. A last row or column that is left over belongs to no window.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.compilation.jit import jit
from mt_fast.compilation.kernel import Kernel
from mt_fast.generation.spelling import larger

Pair = tuple[int, int]

# --- Kernels on planes: arrays of shape (images * channels, height, width) ------------------------


def _largest_of_fours(lo: Any, hi: Any, x: Any, out: Any) -> None:
    """Write the largest element of each window; nan if there is one."""
    for plane in range(lo, hi):
        for i in range(out.shape[1]):
            top, bottom, result = x[plane, 2 * i], x[plane, 2 * i + 1], out[plane, i]
            for j in range(np.uintp(result.size)):
                a, b, c, d = top[2 * j], top[2 * j + 1], bottom[2 * j], bottom[2 * j + 1]
                spoilt = (a != a) | (b != b) | (c != c) | (d != d)
                largest = larger(larger(a, b), larger(c, d))  # which need not look out for nan
                result[j] = x.dtype.type(np.nan) if spoilt else largest


def _means_of_fours(lo: Any, hi: Any, x: Any, out: Any) -> None:
    """Write the mean of each window."""
    share = x.dtype.type(0.25)
    for plane in range(lo, hi):
        for i in range(out.shape[1]):
            top, bottom, result = x[plane, 2 * i], x[plane, 2 * i + 1], out[plane, i]
            for j in range(np.uintp(result.size)):
                total = (top[2 * j] + bottom[2 * j]) + (top[2 * j + 1] + bottom[2 * j + 1])
                result[j] = total * share


@jit()
def _larger(largest: Any, place: Any, value: Any, other: Any) -> Any:
    """Return the larger of two elements and its place; the first of equal ones. Nan is largest."""
    wins = (value > largest) | ((value != value) & (largest == largest))
    return (value, np.int32(other)) if wins else (largest, np.int32(place))


def _positions_in_fours(lo: Any, hi: Any, x: Any, out: Any, position: Any) -> None:
    """Write the largest element of each window, and where in its plane the first of these lies."""
    width = x.shape[2]
    for plane in range(lo, hi):
        for i in range(out.shape[1]):
            top, bottom = x[plane, 2 * i], x[plane, 2 * i + 1]
            result, places = out[plane, i], position[plane, i]
            for j in range(np.uintp(result.size)):
                first = np.int32(2 * i * width + 2 * j)
                largest, place = top[2 * j], first
                largest, place = _larger(largest, place, top[2 * j + 1], first + 1)
                largest, place = _larger(largest, place, bottom[2 * j], first + width)
                largest, place = _larger(largest, place, bottom[2 * j + 1], first + width + 1)
                result[j] = largest
                places[j] = place


def _mean_gradient_of_fours(lo: Any, hi: Any, grad: Any, out: Any) -> None:
    """Write the gradient of the image: a quarter of that of the window."""
    share = grad.dtype.type(0.25)
    rows, outputs = grad.shape[1], np.uintp(grad.shape[2])
    for plane in range(lo, hi):
        for h in range(2 * rows):
            given, result = grad[plane, h // 2], out[plane, h]
            for j in range(outputs):
                part = given[j] * share
                result[2 * j] = part
                result[2 * j + 1] = part
            result[2 * outputs :] = 0
        out[plane, 2 * rows :] = 0


LARGEST, MEANS = Kernel.of(_largest_of_fours), Kernel.of(_means_of_fours)
POSITIONS, MEAN_GRADIENT = Kernel.of(_positions_in_fours), Kernel.of(_mean_gradient_of_fours)


def halves(size: Pair, stride: Pair, padding: Pair) -> bool:
    """Whether these are the settings of such a pooling."""
    return size == stride == (2, 2) and padding == (0, 0)
