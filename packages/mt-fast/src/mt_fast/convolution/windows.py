"""Copy the window of each output position of a convolution to a buffer, as rows of a matrix.

Written out as the columns of a matrix, the windows make a convolution a product of matrices
(im2col), but hold each element of the image up to `kernel height x kernel width` times. Here
windows that are one above the other share the rows of the image that both see, so that the buffer
holds it up to `kernel width` times (MEC: M. Cho and D. Brand, 2017).

For each channel and each column of the kernel there is a *plane*: what that column sees at each
output position, line after line, with padding filled in and stride and dilation taken out. What one
element of the kernel sees, a *tap*, is a run of a plane, and the runs for elements above each other
overlap: they are rows of the matrix that begin at `offsets`. If the stride is s, taps that are s
rows of the image apart see the same lines, and others none of them; a plane has s *phases* then,
each with the lines of every s-th row.

A buffer has to fit the cache, so that large images are worked on in *strips* of output rows, and
many channels some at a time.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mt_fast.gemm.scratch import scratch
from mt_fast.vectors.compiler import allocating, inner
from mt_fast.vectors.instructions import clear, clear_every, copy, copy_every
from mt_fast.vectors.processor import VECTOR_BYTES

BUFFER = 2**18
"""How many bytes the buffer of a strip should have: it is to stay in the L2 cache."""


class Windows(NamedTuple):
    """Which elements of an image the positions of an output see.

    Position (y, x) of the output sees, through tap (i, j) of the kernel, the element
    `y * row_stride + i * row_dilation - row_padding` of the rows of the image, and so on for
    columns; beyond the edge it sees 0. Padding may be negative.
    """

    height: int
    width: int
    rows: int
    columns: int
    kernel_height: int
    kernel_width: int
    row_stride: int
    column_stride: int
    row_padding: int
    column_padding: int
    row_dilation: int
    column_dilation: int


class Strips(NamedTuple):
    """How images are cut into strips, and how the windows of one lie in a buffer.

    Attributes:
        number: how many strips an image has.
        rows: how many output rows a strip has; the last one may have fewer.
        phases: how many phases a plane has; those that no tap sees may be missing.
        lines: how many lines a phase has.
        plane: how many elements a plane has.
        size: how many elements the planes of all channels have.
    """

    number: int
    rows: int
    phases: int
    lines: int
    plane: int
    size: int


def rows_that_fit(windows: Windows, channels: int, itemsize: int) -> int:
    """Return of how many output rows the windows fit a buffer with so many channels."""
    line = _line(windows, itemsize) * channels
    more = _shared_lines(windows)
    return max(BUFFER // max(line, 1) - more, 2 * more, 1)


def channels_that_fit(windows: Windows, rows: int, itemsize: int) -> int:
    """Return how many channels fit a buffer for so many output rows."""
    return max(BUFFER // (_line(windows, itemsize) * (rows + _shared_lines(windows))), 1)


def _line(windows: Windows, itemsize: int) -> int:
    """Return how many bytes one line of all planes of a channel has."""
    return windows.kernel_width * _phases(windows) * windows.columns * itemsize


def _phases(windows: Windows) -> int:
    return min(windows.row_stride, windows.row_dilation * (windows.kernel_height - 1) + 1)


def _shared_lines(windows: Windows) -> int:
    """Return how many lines a strip shares with the next; both have them."""
    return windows.row_dilation * (windows.kernel_height - 1) // windows.row_stride


@functools.lru_cache(256)
def plan(windows: Windows, channels: int, rows: int) -> tuple[Strips, npt.NDArray[np.int64]]:
    """Return how to cut images into strips, and the offset of each tap in a buffer.

    Args:
        windows: which elements positions see.
        channels: how many channels are in the buffer.
        rows: how many output rows a strip should have at most.

    Returns:
        The strips, and the offsets, shape (channels * kernel height * kernel width,).
    """
    count = -(-windows.rows // min(max(rows, 1), windows.rows))
    rows = -(-windows.rows // count)
    lines = rows + _shared_lines(windows)
    phases = _phases(windows)
    plane = phases * lines * windows.columns
    planes = channels * windows.kernel_width
    strips = Strips(-(-windows.rows // rows), rows, phases, lines, plane, planes * plane)

    line_of_tap, phase_of_tap = np.divmod(
        np.arange(windows.kernel_height) * windows.row_dilation, windows.row_stride
    )
    runs = (phase_of_tap * lines + line_of_tap) * windows.columns
    starts = np.arange(planes).reshape(channels, 1, windows.kernel_width) * plane
    offsets = (starts + runs[:, None]).astype(np.int64).reshape(-1)
    return strips, offsets


# --- Filling a buffer -----------------------------------------------------------------------------


@allocating
def buffer(strips: Any, images: Any, like: Any) -> Any:
    """Return a buffer for the strips of some images.

    It has two vectors to spare at the end, for vectors are copied and read whole.
    """
    spare = 2 * VECTOR_BYTES // like.itemsize
    planes = scratch(images * strips.size + spare, like)
    clear(planes, images * strips.size, spare)
    return planes


@inner
def fill(
    planes: Any, image: Any, start: Any, channels: Any, row: Any, windows: Any, strips: Any
) -> None:
    """Write the planes of a strip.

    Args:
        planes: the buffer, from the place on where the planes begin.
        image: a flat array of images.
        start: where the first channel of the image begins.
        channels: how many channels there are.
        row: the first output row of the strip.
        windows: which elements positions see.
        strips: how the planes lie.
    """
    top = row * windows.row_stride - windows.row_padding
    lengths = (windows.height, windows.width, strips.lines)
    for channel in range(channels):
        begin = start + channel * windows.height * windows.width
        at = channel * windows.kernel_width * strips.plane
        for j in range(windows.kernel_width):
            shift = j * windows.column_dilation - windows.column_padding
            plane = at + j * strips.plane
            if _lines_are_those_of_the_image(windows):
                _copy_shifted(planes, plane, image, begin, top, shift, lengths)
            elif windows.width == windows.columns == 1 and shift == 0:
                _copy_column(planes, plane, image, begin, top, windows, strips)
            else:
                _copy_lines(planes, plane, image, begin, top, shift, windows, strips)


@inner
def _lines_are_those_of_the_image(windows: Any) -> Any:
    """Return whether lines of a plane are as long and as far apart as those of the image."""
    steps = windows.row_stride * windows.column_stride
    return steps == 1 and windows.columns == windows.width


@inner
def _copy_shifted(
    planes: Any, at: Any, image: Any, start: Any, top: Any, shift: Any, lengths: Any
) -> None:
    """Write a plane whose lines are those of a channel, moved by `shift` columns: all at once."""
    height, width, lines = lengths
    size = lines * width
    above = min(max(-top, 0), lines) * width
    below = min(max(height - top, 0), lines) * width
    left, right = max(-shift, 0), max(shift, 0)
    if below <= above or left + right >= width:
        clear(planes, at, size)
    else:
        clear(planes, at, above)
        first = start + top * width + above + right
        copy(planes, at + above + left, image, first, below - above - left - right)
        clear(planes, at + below, size - below)
        for i in range(left + right):  # what has come from a neighbouring line
            column = i if i < left else i - left - right + width
            clear_every(planes, at + above + column, width, (below - above) // width)


@inner
def _copy_lines(
    planes: Any, at: Any, image: Any, start: Any, top: Any, shift: Any, windows: Any, strips: Any
) -> None:
    """Write a plane line by line; the first position sees row `top` and column `shift`.

    What is written beyond the end of a line belongs to the next.
    """
    lines, columns, step = strips.lines, windows.columns, windows.column_stride
    before, seen = _within(shift, step, windows.width, columns)
    place = at + before
    for phase in range(strips.phases):
        for line in range(lines):
            row = top + phase + line * windows.row_stride
            if row < 0 or row >= windows.height:
                clear(planes, place - before, columns)
            else:
                first = start + row * windows.width + shift + before * step
                if step == 1:
                    copy(planes, place, image, first, seen)
                else:
                    copy_every(planes, place, image, first, step, seen, image.size)
            place += columns
    for i in range(columns - seen):
        column = i if i < before else i + seen
        clear_every(planes, at + column, columns, strips.phases * lines)


@inner
def _copy_column(
    planes: Any, at: Any, image: Any, start: Any, top: Any, windows: Any, strips: Any
) -> None:
    """Write a plane of images that are 1 wide: a column, which is copied like a line."""
    for phase in range(strips.phases):
        step = windows.row_stride
        before, seen = _within(top + phase, step, windows.height, strips.lines)
        first = start + top + phase + before * step
        clear(planes, at, before)
        copy_every(planes, at + before, image, first, step, seen, image.size)
        clear(planes, at + before + seen, strips.lines - before - seen)
        at += strips.lines


@inner
def _within(shift: Any, step: Any, length: Any, count: Any) -> Any:
    """Return how many of `count` places come before a line's first element, and how many are in it.

    They begin at `shift` and are `step` apart; the line has `length` elements.
    """
    before = min(max(-(shift // step), 0), count)
    return before, max(min((length - 1 - shift) // step + 1, count) - before, 0)
