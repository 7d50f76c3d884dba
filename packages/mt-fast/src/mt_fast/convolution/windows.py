"""Copy the window of each output position of a convolution to a buffer, as rows of a matrix.

Written as the columns of a matrix, the windows turn a convolution into a product of matrices
(im2col), but hold each element of the image up to `kernel height x kernel width` times. Here
vertically adjacent windows share the image rows that both contain, so that the buffer holds each
element up to `kernel width` times (MEC: M. Cho and D. Brand, 2017).

For each channel and each column of the kernel there is a *plane*: the elements under that column at
each output position, line after line, with padding filled in and stride and dilation removed. The
elements under one element of the kernel, a *tap*, are a contiguous run of a plane, and the runs of
vertically adjacent taps overlap: they are rows of the matrix that start at `offsets`. With a stride
s, taps that are s image rows apart share lines, and others do not; a plane then has s *phases*,
each with the lines of every s-th row.

A buffer has to fit in the cache, so large images are processed in *strips* of output rows, and many
channels in blocks.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mt_fast.gemm.scratch import scratch
from mt_fast.vectors.compiler import allocating, inner
from mt_fast.vectors.instructions import clear, clear_strided, copy, copy_from_strided
from mt_fast.vectors.processor import VECTOR_BYTES

BUFFER = 2**18
"""The target size in bytes of the buffer of a strip, which should stay in the L2 cache."""


class Windows(NamedTuple):
    """The image elements under the kernel at each output position.

    Output position (y, x) reads, through tap (i, j) of the kernel, the image row `y * row_stride +
    i * row_dilation - row_padding`, and the column likewise; outside of the image it reads 0.
    Padding may be negative.
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
    """How images are cut into strips, and the layout of the windows of a strip in a buffer.

    Attributes:
        number: the number of strips of an image.
        rows: the number of output rows of a strip; the last one may have fewer.
        phases: the number of phases of a plane; those without taps may be missing.
        lines: the number of lines of a phase.
        plane: the number of elements of a plane.
        size: the number of elements of the planes of all channels.
    """

    number: int
    rows: int
    phases: int
    lines: int
    plane: int
    size: int


def rows_that_fit(windows: Windows, channels: int, itemsize: int) -> int:
    """Return the number of output rows whose windows fit in a buffer with this many channels."""
    line = _line(windows, itemsize) * channels
    more = _shared_lines(windows)
    return max(BUFFER // max(line, 1) - more, 2 * more, 1)


def channels_that_fit(windows: Windows, rows: int, itemsize: int) -> int:
    """Return the number of channels that fit in a buffer for this many output rows."""
    return max(BUFFER // (_line(windows, itemsize) * (rows + _shared_lines(windows))), 1)


def _line(windows: Windows, itemsize: int) -> int:
    """Return the number of bytes of one line of all planes of a channel."""
    return windows.kernel_width * _phases(windows) * windows.columns * itemsize


def _phases(windows: Windows) -> int:
    return min(windows.row_stride, windows.row_dilation * (windows.kernel_height - 1) + 1)


def _shared_lines(windows: Windows) -> int:
    """Return the number of lines that a strip shares with the next; both hold them."""
    return windows.row_dilation * (windows.kernel_height - 1) // windows.row_stride


@functools.lru_cache(256)
def plan(windows: Windows, channels: int, rows: int) -> tuple[Strips, npt.NDArray[np.int64]]:
    """Return how to cut images into strips, and the offset of each tap in a buffer.

    Args:
        windows: the windows of the positions.
        channels: the number of channels in the buffer.
        rows: the maximum number of output rows of a strip.

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

    It has two extra vectors at the end, since whole vectors are copied and read.
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
        planes: the buffer from the first plane on.
        image: a flat array of images.
        start: the start of the first channel of the image.
        channels: the number of channels.
        row: the first output row of the strip.
        windows: the windows of the positions.
        strips: the layout of the planes.
    """
    top = row * windows.row_stride - windows.row_padding
    lengths = (windows.height, windows.width, strips.lines)
    for channel in range(channels):
        begin = start + channel * windows.height * windows.width
        at = channel * windows.kernel_width * strips.plane
        for j in range(windows.kernel_width):
            shift = j * windows.column_dilation - windows.column_padding
            plane = at + j * strips.plane
            if _lines_match_image_rows(windows):
                _copy_shifted(planes, plane, image, begin, top, shift, lengths)
            elif windows.width == windows.columns == 1 and shift == 0:
                _copy_column(planes, plane, image, begin, top, windows, strips)
            else:
                _copy_lines(planes, plane, image, begin, top, shift, windows, strips)


@inner
def _lines_match_image_rows(windows: Any) -> Any:
    """Return whether lines of a plane have the length and distance of image rows."""
    steps = windows.row_stride * windows.column_stride
    return steps == 1 and windows.columns == windows.width


@inner
def _copy_shifted(
    planes: Any, at: Any, image: Any, start: Any, top: Any, shift: Any, lengths: Any
) -> None:
    """Write a plane whose lines are image rows shifted by `shift` columns, in one copy."""
    height, width, lines = lengths
    size = lines * width
    begin = min(max(-top, 0), lines) * width
    end = min(max(height - top, 0), lines) * width
    left, right = max(-shift, 0), max(shift, 0)
    if end <= begin or left + right >= width:
        clear(planes, at, size)
    else:
        clear(planes, at, begin)
        first = start + top * width + begin + right
        copy(planes, at + begin + left, image, first, end - begin - left - right)
        clear(planes, at + end, size - end)
        for i in range(left + right):  # clear the elements of adjacent rows
            column = i if i < left else i - left - right + width
            clear_strided(planes, at + begin + column, width, (end - begin) // width)


@inner
def _copy_lines(
    planes: Any, at: Any, image: Any, start: Any, top: Any, shift: Any, windows: Any, strips: Any
) -> None:
    """Write a plane line by line; the first position reads row `top` and column `shift`.

    Elements that are written after the end of a line are overwritten by the next.
    """
    lines, columns, step = strips.lines, windows.columns, windows.column_stride
    before, count = _counts_in_line(shift, step, windows.width, columns)
    offset = at + before
    for phase in range(strips.phases):
        for line in range(lines):
            row = top + phase + line * windows.row_stride
            if row < 0 or row >= windows.height:
                clear(planes, offset - before, columns)
            else:
                first = start + row * windows.width + shift + before * step
                if step == 1:
                    copy(planes, offset, image, first, count)
                else:
                    copy_from_strided(planes, offset, image, first, step, count, image.size)
            offset += columns
    for i in range(columns - count):
        column = i if i < before else i + count
        clear_strided(planes, at + column, columns, strips.phases * lines)


@inner
def _copy_column(
    planes: Any, at: Any, image: Any, start: Any, top: Any, windows: Any, strips: Any
) -> None:
    """Write a plane of images that are 1 wide: a column, which is copied like a line."""
    for phase in range(strips.phases):
        step = windows.row_stride
        before, count = _counts_in_line(top + phase, step, windows.height, strips.lines)
        first = start + top + phase + before * step
        clear(planes, at, before)
        copy_from_strided(planes, at + before, image, first, step, count, image.size)
        clear(planes, at + before + count, strips.lines - before - count)
        at += strips.lines


@inner
def _counts_in_line(shift: Any, step: Any, length: Any, count: Any) -> Any:
    """Return how many of `count` positions are before a line, and how many are in it.

    They start at `shift` and are `step` apart; the line has `length` elements.
    """
    before = min(max(-(shift // step), 0), count)
    return before, max(min((length - 1 - shift) // step + 1, count) - before, 0)
