"""Means of windows with stride 1, which smooth an image.

The gradient of an element is the mean of the gradients of the windows that contain it; these
windows are adjacent, so the same kernel computes it. Rows are short, so each plane is copied into a
frame of zeros first, and all of its rows are added in one loop. Windows that straddle two rows are
computed, too, and dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.vectors.instructions import copy

Pair = tuple[int, int]

# --- Kernels on planes: arrays of shape (images * channels, height, width) ------------------------


def _means(lo: Any, hi: Any, x: Any, size: Any, frame: Any, out: Any) -> None:
    """Write the mean of each window.

    Args:
        lo: the first plane.
        hi: the plane after the last.
        x: planes.
        size: the size of a window.
        frame: the number of rows and columns of zeros on each side.
        out: the means.
    """
    _, height, width = x.shape
    _, rows, columns = out.shape
    line, above, beside = width + 2 * frame[1], frame[0], frame[1]
    share = x.dtype.type(1.0 / (size[0] * size[1]))
    framed = np.zeros((height + 2 * above) * line + size[1], x.dtype)
    summed = np.zeros(rows * line + size[1], x.dtype)
    means = np.empty(rows * line, x.dtype)
    for plane in range(lo, hi):
        for i in range(height):
            copy(framed, (above + i) * line + beside, x, (plane * height + i) * width, width)
        sums = summed[: rows * line]
        sums[:] = framed[: sums.size]
        for k in range(1, size[0]):
            part = framed[k * line : k * line + sums.size]
            for n in range(sums.size):
                sums[n] += part[n]
        for n in range(means.size):
            means[n] = sums[n] * share
        for k in range(1, size[1]):
            part = summed[k : k + means.size]
            for n in range(means.size):
                means[n] += part[n] * share
        for i in range(rows):
            copy(out, (plane * rows + i) * columns, means, i * line, columns)


MEANS = Kernel.of(_means, allocates=True)


def slides(size: Pair, stride: Pair, padding: Pair) -> bool:
    """Whether windows have stride 1 and less padding than their size."""
    return stride == (1, 1) and all(p < k for p, k in zip(padding, size, strict=True))


def opposite(size: Pair, padding: Pair) -> Pair:
    """Return the padding with which the same windows compute the gradient."""
    return size[0] - 1 - padding[0], size[1] - 1 - padding[1]
