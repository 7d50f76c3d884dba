"""Means of windows with stride 1, which smooth an image.

Its gradient is of the same kind: to an element flows the mean of the windows that see it, which lie
side by side in turn. Rows are short, so a plane is brought into a frame of zeros first, and then
all of its rows are added up in one loop, with what lies beside them; what straddles two rows is
computed as well, and dropped.
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
        size: of a window.
        frame: how many rows and columns of zeros lie at each side.
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
    """Whether windows move by one element, and see no further than they are large."""
    return stride == (1, 1) and all(p < k for p, k in zip(padding, size, strict=True))


def opposite(size: Pair, padding: Pair) -> Pair:
    """Return the frame of the gradient, in which windows are those that see an element."""
    return size[0] - 1 - padding[0], size[1] - 1 - padding[1]
