"""Means of adjacent windows of any size, as in adaptive pooling.

Windows do not overlap, so nothing is accumulated: the rows of a row of windows are added, and then
the columns of each window; backward, a row is spread once and copied. Rows are short here, a few
vectors or less, so they are added and copied as vectors, the last of which may overlap the one
before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.vectors.instructions import clear, copy, sum_of_rows

Pair = tuple[int, int]

# --- Kernels on planes: arrays of shape (images * channels, height, width) ------------------------


def _means_of_tiles(lo: Any, hi: Any, x: Any, size: Any, out: Any) -> None:
    """Write the mean of each window."""
    _, height, width = x.shape
    _, rows, columns = out.shape
    down, across = size
    share = x.dtype.type(1.0 / (down * across))
    line = np.empty(width, x.dtype)
    for plane in range(lo, hi):
        for i in range(rows):
            start = (plane * height + i * down) * width
            sum_of_rows(line, 0, x, start, width, down, columns * across)
            result = out[plane, i]
            for j in range(columns):
                total = line[j * across]
                for q in range(1, across):
                    total += line[j * across + q]
                result[j] = total * share


def _mean_gradient_of_tiles(lo: Any, hi: Any, grad: Any, size: Any, out: Any) -> None:
    """Write the gradient of the image: each element receives its share of its window's gradient."""
    _, height, width = out.shape
    _, rows, columns = grad.shape
    down, across = size
    share = grad.dtype.type(1.0 / (down * across))
    line = np.zeros(width, grad.dtype)
    for plane in range(lo, hi):
        for i in range(rows):
            upstream = grad[plane, i]
            for j in range(columns):
                part = upstream[j] * share
                for q in range(across):
                    line[j * across + q] = part
            for row in range(i * down, (i + 1) * down):
                copy(out, (plane * height + row) * width, line, 0, width)
        clear(out, (plane * height + rows * down) * width, (height - rows * down) * width)


MEANS = Kernel.of(_means_of_tiles, allocates=True)
MEAN_GRADIENT = Kernel.of(_mean_gradient_of_tiles, allocates=True)


def tiles(size: Pair, stride: Pair, padding: Pair) -> bool:
    """Whether windows are adjacent and without padding."""
    return size == stride and padding == (0, 0)
