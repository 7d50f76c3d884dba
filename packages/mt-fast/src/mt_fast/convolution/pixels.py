"""The gradient of kernels from pixels: images in which the channels of a place are neighbours.

In such an image the columns of a window that lie in one row are a *run*: all their channels, one
after the other. So the gradient of the kernels is a product of matrices in which vectors run along
the kernels:

    gradient[output, run] = sum over positions of grad[output, position] * pixels[position, run]

and every position, of whatever stride, is a row of the second factor that begins at an offset. The
windows of `windows.py` hold an image once for each column of the kernel, and a sum along them ends
in sums over the elements of vectors; here an image is held once, and a tile's sums are results.
That pays where a run is long.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mt_fast.convolution.windows import BUFFER, Windows
from mt_fast.core.kernel import Kernel
from mt_fast.gemm.scratch import scratch
from mt_fast.gemm.tiles import LARGEST, WIDE, product
from mt_fast.transposition.registers import transpose_block
from mt_fast.vectors.compiler import inner
from mt_fast.vectors.instructions import clear
from mt_fast.vectors.processor import VECTOR_BYTES

Array = npt.NDArray[Any]

POSITIONS = 128
"""How many positions an image must have: with fewer, tiles begin and end too often."""


class Strips(NamedTuple):
    """How images are cut into strips, and how the pixels of one lie in a buffer.

    Attributes:
        number: how many strips an image has.
        rows: how many output rows a strip has; the last one may have fewer.
        lines: how many lines of pixels they see.
        width: how many pixels a line has.
    """

    number: int
    rows: int
    lines: int
    width: int


def pay(windows: Windows, channels: int, itemsize: int) -> bool:
    """Whether this takes less time than sums along windows."""
    tile = WIDE * VECTOR_BYTES // itemsize
    return _run(windows, channels) >= tile and windows.rows * windows.columns >= POSITIONS


def _run(windows: Windows, channels: int) -> int:
    """Return how many neighbours a window sees in a line: a whole row of it, or one column."""
    return channels * (windows.kernel_width if windows.column_dilation == 1 else 1)


def kernel_gradient(
    grad: Array, images: Array, windows: Windows, groups: int, threads: int
) -> Array:
    """Return the gradient of the kernels of a convolution.

    Args:
        grad: the gradient of its result, shape (n, outputs, out height, out width).
        images: shape (n, channels, height, width).
        windows: which elements positions see.
        groups: into how many independent parts the channels are split.
        threads: how many threads to use.

    Returns:
        Shape (outputs, channels / groups, kernel height, kernel width).
    """
    n, outputs, rows, _ = grad.shape
    channels = images.shape[1] // groups
    at_once = -(-rows * n // threads)
    strips, offsets, runs = _plan(windows, channels, at_once, grad.itemsize)
    parts = min(threads, n * strips.number)
    size = _run(windows, channels)
    totals = np.zeros((parts, outputs * len(runs) * size), grad.dtype)
    extents = (n, groups, channels, outputs // groups, size)
    arguments = (images.reshape(-1), grad.reshape(-1), offsets, runs, totals.reshape(-1))
    _KERNEL_GRADIENTS.run(parts, threads > 1, *arguments, extents, tuple(windows), tuple(strips))
    shape = (outputs, windows.kernel_height, windows.kernel_width, channels)
    return np.ascontiguousarray(totals.sum(0).reshape(shape).transpose(0, 3, 1, 2))


@functools.lru_cache(256)
def _plan(
    windows: Windows, channels: int, rows: int, itemsize: int
) -> tuple[Strips, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return how to cut images into strips of at most so many rows, and what positions see.

    Returns:
        The strips; for each position of a strip, where in the buffer its window begins; and for
        each run of a window, where that begins from there.
    """
    width = (windows.columns - 1) * windows.column_stride + 1
    width += (windows.kernel_width - 1) * windows.column_dilation
    more = (windows.kernel_height - 1) * windows.row_dilation + 1 - windows.row_stride
    fit = (BUFFER // (width * channels * itemsize) - more) // windows.row_stride
    number = -(-windows.rows // min(max(fit, 1), rows, windows.rows))
    rows = -(-windows.rows // number)
    strips = Strips(-(-windows.rows // rows), rows, rows * windows.row_stride + more, width)
    columns = np.arange(0, width, windows.column_dilation)[: windows.kernel_width]
    firsts = columns[:1] if windows.column_dilation == 1 else columns
    lines = np.arange(windows.kernel_height) * windows.row_dilation
    runs = _places(lines, firsts, width) * channels
    down, across = (np.arange(extent) for extent in (rows, windows.columns))
    positions = _places(down * windows.row_stride, across * windows.column_stride, width) * channels
    return strips, positions, runs


def _places(lines: Array, columns: Array, width: int) -> npt.NDArray[np.int64]:
    """Return the numbers of the pixels in some lines and columns."""
    return (lines[:, None] * width + columns).astype(np.int64).reshape(-1)


# --- The kernel -----------------------------------------------------------------------------------


@inner
def _fill(
    pixels: Any, image: Any, start: Any, channels: Any, row: Any, windows: Any, strips: Any
) -> None:
    """Write the pixels of a strip.

    Args:
        pixels: the buffer.
        image: a flat array of images.
        start: where the first channel of the image begins.
        channels: how many channels there are.
        row: the first output row of the strip.
        windows: which elements positions see.
        strips: how the pixels lie.
    """
    top = row * windows.row_stride - windows.row_padding
    left = min(max(windows.column_padding, 0), strips.width)
    first = max(-windows.column_padding, 0)
    seen = max(min(windows.width - first, strips.width - left), 0)
    for line in range(strips.lines):
        at = line * strips.width * channels
        if top + line < 0 or top + line >= windows.height:
            clear(pixels, at, strips.width * channels)
        else:
            clear(pixels, at, left * channels)
            begin = start + (top + line) * windows.width + first
            channel_stride = windows.height * windows.width
            _transpose_line(
                pixels, at + left * channels, image, begin, channel_stride, channels, seen
            )
            clear(pixels, at + (left + seen) * channels, (strips.width - left - seen) * channels)


@inner
def _transpose_line(
    pixels: Any, at: Any, image: Any, start: Any, channel_stride: Any, channels: Any, count: Any
) -> None:
    """Copy a line of `count` pixels, whose channels are `channel_stride` apart; in blocks."""
    lanes = VECTOR_BYTES // image.itemsize
    if min(count, channels) < lanes:
        for i in range(count):
            for channel in range(channels):
                pixels[at + i * channels + channel] = image[start + channel * channel_stride + i]
        return
    for first in range(0, channels, lanes):
        channel = min(first, channels - lanes)  # the last blocks overlap the ones before
        for begin in range(0, count, lanes):
            i = min(begin, count - lanes)
            source, target = start + channel * channel_stride + i, at + i * channels + channel
            transpose_block(image, source, channel_stride, pixels, target, channels)  # type: ignore[call-arg]


def _kernel_gradients_by_pixels(
    lo: Any, hi: Any, images: Any, grad: Any, offsets: Any, runs: Any, totals: Any, extents: Any,
    windows: Any, strips: Any,
) -> None:  # fmt: skip
    """Add up the gradients of the kernels; a unit is one of equal parts of all strips.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        images: the images, flat.
        grad: the gradients of the convolution, flat.
        offsets: where the windows of positions begin in the buffer.
        runs: where the runs of a window begin from there.
        totals: for each part, room for its sums, which are 0 before; flat.
        extents: images, groups, channels of one group, outputs of one group, and how long runs are.
        windows: which elements positions see.
        strips: how an image is cut.
    """
    number, groups, channels, outputs, size = extents
    windows, strips = Windows(*windows), Strips(*strips)
    pixels = scratch(strips.lines * strips.width * channels, images)
    sums = scratch(LARGEST * size, images)
    nothing = np.zeros(LARGEST, images.dtype)
    positions = windows.rows * windows.columns
    parts = totals.size // (groups * outputs * runs.size * size)
    units = number * strips.number
    for part in range(lo, hi):
        for unit in range(units * part // parts, units * (part + 1) // parts):
            image, row = unit // strips.number, unit % strips.number * strips.rows
            count = min(strips.rows, windows.rows - row) * windows.columns
            for group in range(groups):
                start = (image * groups + group) * channels * windows.height * windows.width
                _fill(pixels, images, start, channels, row, windows, strips)
                for first in range(0, outputs, LARGEST):
                    used, output = min(LARGEST, outputs - first), group * outputs + first
                    start = (image * groups * outputs + output) * positions
                    start += row * windows.columns
                    for run in range(runs.size):
                        product(
                            sums, 0, size, used, size, nothing, 0, grad, start, (positions, 1),
                            pixels, runs[run], offsets, 0, count,
                        )  # fmt: skip
                        at = ((part * groups * outputs + output) * runs.size + run) * size
                        _add(totals, at, runs.size * size, sums, used, size)


@inner
def _add(totals: Any, at: Any, step: Any, sums: Any, rows: Any, size: Any) -> None:
    """Add rows of so many sums, which follow each other, to rows that are `step` apart."""
    for i in range(rows):
        target, row = totals[at + i * step :], sums[i * size : (i + 1) * size]
        for j in range(row.size):
            target[j] += row[j]


_KERNEL_GRADIENTS = Kernel.of(_kernel_gradients_by_pixels, allocates=True)
