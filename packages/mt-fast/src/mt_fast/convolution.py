"""Convolution, and both its gradients, as products of matrices whose windows lie in a buffer.

Every output position sees a window of the padded image. Written out as the columns of a matrix, the
windows make a convolution a product of matrices (im2col), but hold every element of the image
`kernel height x kernel width` times. Here rows of the image are shared between windows that are one
above the other, so that the buffer holds it `kernel width` times (MEC, Cho and Brand 2017). For each
channel and each column of the kernel it has a *plane*: what that column of the kernel sees at each
position, row by row, with the padding filled in and stride and dilation taken out. A row of the
matrix, for one element of the kernel (a *tap*), is then a run of a plane. Rows above each other
overlap, and a table of offsets says where each begins; the tiles of `tiles.py` multiply by it.

- The convolution is `weights @ windows`.
- The gradient of the kernels is `gradients @ windows.T`, summed over all images.
- The gradient of the images is a convolution of the gradients with the kernels turned round. With a
  stride, neighbours in the image are seen by different elements of the kernel, and there is one
  such convolution for each phase, a pixel's place between two strides.

The buffer has to fit the cache, so that a large image is worked on in *strips* of output rows.
Arrays are C-contiguous and of one dtype, float32 or float64, and pairs are (height, width).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import njit

from mt_fast.cache import kept_by_its_text
from mt_fast.compilation import Kernel
from mt_fast.simd import VECTOR_BYTES, copy, every
from mt_fast.tiles import COLUMNS, INNER_COLUMNS, LARGEST, SMALLER, inner_tile, product_tile

Array = npt.NDArray[Any]
Pair = tuple[int, int]

PARALLEL_FROM = 2**19
"""Multiplications from which all threads are used: starting them costs as much as so many."""

BUFFER = 2**18
"""How many bytes the buffer of a strip should have: it is to stay in the second cache."""

POSITIONS = 1024
"""How many positions a strip should have when kernels are differentiated: gradients at that many
positions, in a tile of them, are to stay in the first cache."""


class Windows(NamedTuple):
    """Which elements of a source the positions of an output see."""

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
    """How an image is cut into strips, and how the windows of one lie in a buffer.

    Attributes:
        count: how many strips an image has.
        rows: how many output rows a strip has; the last one may have fewer.
        phases: how many runs of lines a plane has: lines between which lies the stride are
            neighbours.
        lines: how many lines a run has.
        plane: how many elements a plane has.
        size: how many elements the buffer has for one image.
    """

    count: int
    rows: int
    phases: int
    lines: int
    plane: int
    size: int


class Layout(NamedTuple):
    """Where the elements of a result lie in an array: a start, and strides in elements."""

    start: int
    image: int
    channel: int
    row: int
    column: int


# --- The buffer ---------------------------------------------------------------------------------


@njit(error_model="numpy")
def _offsets(channels: Any, windows: Any, strips: Any) -> Any:
    """Return for each tap, a channel and an element of the kernel, where its row begins."""
    height, width = windows.kernel_height, windows.kernel_width
    table = np.empty(channels * height * width, np.int64)
    tap = 0
    for channel in range(channels):
        for i in range(height):
            down = i * windows.row_dilation
            run, line = down % windows.row_stride, down // windows.row_stride
            for j in range(width):
                plane = (channel * width + j) * strips.plane
                table[tap] = plane + (run * strips.lines + line) * windows.columns
                tap += 1
    return table


@njit(error_model="numpy")
def _fill(
    buffer: Any, at: Any, padded: Any, source: Any, start: Any, channels: Any, row: Any,
    windows: Any, strips: Any,
) -> None:  # fmt: skip
    """Write the planes of the strip that begins with an output row.

    Args:
        buffer: a flat array; the planes begin at `at`. It has room for a vector more.
        padded: room for a padded strip of one channel; see `_room`.
        source: a flat array; the first of the channels begins at `start`.
        channels: how many channels there are.
        row: the first output row of the strip.
        windows: which elements positions see.
        strips: how the planes lie.
    """
    top = row * windows.row_stride - windows.row_padding
    for channel in range(channels):
        image = start + channel * windows.height * windows.width
        if not _same_lines(windows):
            _pad(padded, source, image, top, windows, strips)
        for j in range(windows.kernel_width):
            right = j * windows.column_dilation
            if _same_lines(windows):
                shift = right - windows.column_padding
                _shifted(buffer, at, source, image, top, shift, windows, strips)
            else:
                _lines(buffer, at, padded, right, windows, strips)
            at += strips.plane


@njit(error_model="numpy")
def _same_lines(windows: Any) -> Any:
    """Return whether lines of a plane are lines of the image, but for a shift."""
    return (
        windows.row_stride == 1
        and windows.column_stride == 1
        and windows.columns == windows.width
    )


@njit(error_model="numpy")
def _shifted(
    buffer: Any, at: Any, source: Any, image: Any, top: Any, shift: Any, windows: Any, strips: Any
) -> None:
    """Write a plane of lines that are as long as those of the image: with one copy."""
    height, width, lines = windows.height, windows.width, strips.lines
    size = lines * width
    above = min(max(-top, 0), lines) * width
    below = min(max(height - top, 0), lines) * width
    left, right = min(max(-shift, 0), width), min(max(shift, 0), width)
    if below <= above or left + right >= width:
        buffer[at : at + size] = 0
        return
    buffer[at : at + above] = 0
    first = image + top * width + above + right
    copy(buffer, at + above + left, source, first, below - above - left - right)
    buffer[at + below : at + size] = 0
    for line in range(at + above, at + below, width):
        for i in range(left):
            buffer[line + i] = 0
        for i in range(width - right, width):
            buffer[line + i] = 0


@njit(error_model="numpy")
def _extents(windows: Any, strips: Any) -> Any:
    """Return how many rows and columns of the padded image the windows of a strip see."""
    height = (strips.lines - 1) * windows.row_stride + strips.phases
    reach = (windows.kernel_width - 1) * windows.column_dilation
    return height, (windows.columns - 1) * windows.column_stride + reach + 1


@njit(error_model="numpy")
def _room(windows: Any, strips: Any, like: Any) -> Any:
    """Return zeros for a padded strip of one channel, and two vectors more."""
    if _same_lines(windows):
        return np.zeros(0, like.dtype)
    height, width = _extents(windows, strips)
    return np.zeros(height * width + 2 * VECTOR_BYTES // like.itemsize, like.dtype)


@njit(error_model="numpy")
def _pad(
    padded: Any, source: Any, image: Any, top: Any, windows: Any, strips: Any
) -> None:
    """Copy what windows see of a channel; the padding on the left and the right is zero before."""
    height, width = _extents(windows, strips)
    left = windows.column_padding
    begin, end = max(left, 0), min(windows.width + left, width)
    for y in range(height):
        if y % windows.row_stride < strips.phases and begin < end:
            row, at = top + y, y * width
            if 0 <= row < windows.height:
                first = image + row * windows.width + begin - left
                copy(padded, at + begin, source, first, end - begin)
            else:
                padded[at + begin : at + end] = 0


@njit(error_model="numpy")
def _lines(buffer: Any, at: Any, padded: Any, right: Any, windows: Any, strips: Any) -> None:
    """Write a plane line by line. What is written beyond the end of one belongs to the next."""
    lanes = VECTOR_BYTES // buffer.itemsize
    columns, step = windows.columns, windows.column_stride
    width = _extents(windows, strips)[1]
    for phase in range(strips.phases):
        for line in range(strips.lines):
            first = (line * windows.row_stride + phase) * width + right
            if step == 1:
                for i in range(0, columns, lanes):
                    _move(buffer, at + i, padded, first + i)
            elif step == 2:
                for i in range(0, columns, lanes):
                    _move_every_second(buffer, at + i, padded, first + 2 * i)
            else:
                for i in range(columns):
                    buffer[at + i] = padded[first + i * step]
            at += columns


_move, _move_every_second = every(1), every(2)


# --- Convolution ----------------------------------------------------------------------------------


@njit(error_model="numpy")
def _tile_rows(left: Any) -> Any:
    """Return how many rows the next tile has if so many are left."""
    if left > SMALLER:
        return LARGEST
    return SMALLER if left > 1 else 1


@kept_by_its_text
@njit(error_model="numpy")
def _packed(weights: Any, bias: Any) -> Any:
    """Return weights in the order in which the tiles of a convolution read them.

    Args:
        weights: shape (groups, outputs, taps).
        bias: shape (groups, outputs).

    Returns:
        Shape (groups, n): for each tile its biases, and then for each tap its weights. What a tile
        has rows for, but no outputs, is 0.
    """
    groups, outputs, taps = weights.shape
    last = outputs - outputs % LARGEST
    rows = last + (_tile_rows(outputs - last) if last < outputs else 0)
    packed = np.zeros((groups, rows * (taps + 1)), weights.dtype)
    for group in range(groups):
        first = 0
        while first < outputs:
            rows = _tile_rows(outputs - first)
            at = first * (taps + 1)
            for i in range(min(rows, outputs - first)):
                packed[group, at + i] = bias[group, first + i]
                line = weights[group, first + i]
                for tap in range(taps):
                    packed[group, at + (tap + 1) * rows + i] = line[tap]
            first += rows
    return packed


def _sweep(rows: int) -> Any:
    """Return the function that computes some output channels, at most `rows`, of a strip."""
    columns = COLUMNS[rows]
    wide, narrow = product_tile(rows, columns), product_tile(rows, 1)

    @njit(error_model="numpy")
    def sweep(
        out: Any, at: Any, step: Any, used: Any, count: Any, weights: Any, first: Any, seen: Any,
        offsets: Any,
    ) -> None:  # fmt: skip
        taps = offsets.size
        lanes = VECTOR_BYTES // seen.itemsize
        width = columns * lanes
        done = 0
        while done + width <= count:
            wide(out, at + done, step, used, width, weights, first, seen, done, offsets, taps)
            done += width
        while done < count:
            narrow(
                out, at + done, step, used, count - done, weights, first, seen, done, offsets, taps
            )
            done += lanes

    return sweep


_sweep_largest, _sweep_smaller, _sweep_one = _sweep(LARGEST), _sweep(SMALLER), _sweep(1)


def _convolution(
    lo: Any, hi: Any, source: Any, packed: Any, out: Any, extents: Any, windows: Any, strips: Any,
    layout: Any,
) -> None:  # fmt: skip
    """Convolve; a unit is a strip of a group of an image.

    Args:
        source: the images, flat.
        packed: the weights; see `_packed`.
        out: the results, flat.
        extents: groups, channels of one group, and outputs of one group.
        windows: which elements positions see.
        strips: how an image is cut.
        layout: where the results lie.
    """
    groups, channels, outputs = extents
    windows, strips, layout = Windows(*windows), Strips(*strips), Layout(*layout)
    columns = windows.columns
    offsets = _offsets(channels, windows, strips)
    taps = offsets.size
    lanes = VECTOR_BYTES // source.itemsize
    seen = np.zeros(strips.size + lanes, source.dtype)
    padded = _room(windows, strips, source)
    in_a_row = layout.column == 1 and layout.row == columns
    room = np.empty(0 if in_a_row else LARGEST * strips.rows * columns, out.dtype)
    for unit in range(lo, hi):
        image, strip = unit // strips.count, unit % strips.count
        image, group = image // groups, image % groups
        row = strip * strips.rows
        rows = min(strips.rows, windows.rows - row)
        count = rows * columns
        start = (image * groups + group) * channels * windows.height * windows.width
        _fill(seen, 0, padded, source, start, channels, row, windows, strips)
        weights = packed[group]
        at = layout.start + image * layout.image + row * layout.row
        first = 0
        while first < outputs:
            used = outputs - first
            size = _tile_rows(used)
            used = min(used, size)
            to = at + (group * outputs + first) * layout.channel
            target, begin, step = (out, to, layout.channel) if in_a_row else (room, 0, count)
            place = first * (taps + 1)
            if size == LARGEST:
                _sweep_largest(target, begin, step, used, count, weights, place, seen, offsets)
            elif size == SMALLER:
                _sweep_smaller(target, begin, step, used, count, weights, place, seen, offsets)
            else:
                _sweep_one(target, begin, step, used, count, weights, place, seen, offsets)
            if not in_a_row:
                _spread(room, out, to, (used, rows, columns), layout)
            first += size


@njit(error_model="numpy")
def _spread(room: Any, out: Any, start: Any, extents: Any, layout: Any) -> None:
    """Copy results, which follow each other in `room`, to their places."""
    channels, rows, columns = extents
    position = 0
    for channel in range(channels):
        for row in range(rows):
            at = start + channel * layout.channel + row * layout.row
            line = room[position : position + columns]
            for i in range(columns):
                out[at + i * layout.column] = line[i]
            position += columns


_CONVOLUTION = Kernel.of(_convolution)


def convolve(
    images: Array,
    kernels: Array,
    bias: Array | None,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> Array:
    """Slide kernels over images (cross-correlation, as in torch).

    Args:
        images: shape (n, channels, height, width).
        kernels: shape (outputs, channels / groups, kernel height, kernel width).
        bias: shape (outputs,), or None.
        stride: how far apart windows are.
        padding: zeros added on each side.
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.

    Returns:
        Shape (n, outputs, out height, out width).
    """
    n, _, height, width = images.shape
    outputs, channels, *kernel = kernels.shape
    room = (height + 2 * padding[0], width + 2 * padding[1])
    down, across = (
        (room[d] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1 for d in range(2)
    )
    out = np.empty((n, outputs, down, across), images.dtype)
    windows = Windows(
        height, width, down, across, kernel[0], kernel[1], *stride, *padding, *dilation
    )
    each = outputs // groups
    layout = Layout(0, outputs * down * across, down * across, across, 1)
    weights = kernels.reshape(groups, each, -1)
    start = np.zeros(outputs, images.dtype) if bias is None else bias
    _run_convolution(images, weights, start, windows, channels, out, layout)
    return out


def _run_convolution(
    source: Array,
    weights: Array,
    bias: Array,
    windows: Windows,
    channels: int,
    out: Array,
    layout: Layout,
) -> None:
    groups, outputs, taps = weights.shape
    units = len(source) * groups
    positions = windows.rows * windows.columns
    if units * outputs * positions == 0:
        return
    parallel = units * outputs * positions * taps >= PARALLEL_FROM
    strips = _strips(windows, channels, source.itemsize, units if parallel else None)
    packed = _packed(weights, bias.reshape(groups, outputs))
    extents = (groups, channels, outputs)
    arguments = (packed, out.reshape(-1), extents, tuple(windows), tuple(strips), tuple(layout))
    _CONVOLUTION.run(units * strips.count, parallel, source.reshape(-1), *arguments)


def _strips(
    windows: Windows, channels: int, itemsize: int, units: int | None, positions: int | None = None
) -> Strips:
    """Return how to cut images into strips.

    Args:
        windows: which elements positions see.
        channels: how many channels are in the buffer.
        itemsize: how many bytes an element has.
        units: how many images or groups of images can be worked on by different threads; None if
            there is one thread.
        positions: how many positions a strip should have at most; None if that does not matter.
    """
    rows, columns = windows.rows, windows.columns
    reach = windows.row_dilation * (windows.kernel_height - 1)
    phases = min(windows.row_stride, reach + 1)
    more = reach // windows.row_stride
    line = channels * windows.kernel_width * phases * columns
    # A strip shares `more` lines with the next one. They are filled twice.
    best = max(BUFFER // max(line * itemsize, 1) - more, 2 * more, 1)
    if positions is not None:
        best = min(best, max(positions // columns, 1))
    if units is not None:
        best = min(best, -(-rows * units // numba.get_num_threads()))
    count = -(-rows // best)
    height = -(-rows // count)
    lines = height + more
    plane = phases * lines * columns
    return Strips(-(-rows // height), height, phases, lines, plane, channels * windows.kernel_width * plane)


# --- The gradient of the images -------------------------------------------------------------------


class Phase(NamedTuple):
    """One dimension of the convolution that gives the gradient of every `stride`-th element.

    Attributes:
        first: the first of these elements.
        count: how many there are.
        taps: which elements of the kernel see them, last one first.
        padding: of that convolution.
        dilation: of that convolution.
    """

    first: int
    count: int
    taps: slice
    padding: int
    dilation: int


def _phases(extent: int, kernel: int, stride: int, padding: int, dilation: int) -> Iterator[Phase]:
    """Yield the convolutions along one dimension; there is none where nothing is seen.

    Position `q` sees, through tap `k`, the element `q stride + k dilation - padding`. The gradient
    of an element is therefore the sum, over the taps for which `q` is whole, of the gradients at
    `q = (element + padding - k dilation) / stride`.
    """
    apart = stride // math.gcd(stride, dilation)  # every so many taps see the same phase
    for first in range(min(stride, extent)):
        taps = [k for k in range(kernel) if (first + padding - k * dilation) % stride == 0]
        if taps:
            begin, end = taps[0], taps[-1]
            margin = (end * dilation - first - padding) // stride
            yield Phase(
                first,
                -(-(extent - first) // stride),
                slice(end, begin - 1 if begin else None, -apart),
                margin,
                apart * dilation // stride,
            )


def image_gradient(
    grad: Array,
    kernels: Array,
    image_shape: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> Array:
    """Return the gradient of the images; the settings are those of `convolve`.

    Args:
        grad: the gradient of the convolution, shape (n, outputs, out height, out width).
        kernels: shape (outputs, channels / groups, kernel height, kernel width).
        image_shape: height and width of the images.
        stride: how far apart windows are.
        padding: zeros added on each side.
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.

    Returns:
        Shape (n, channels, height, width).
    """
    n = len(grad)
    outputs, channels, *kernel = kernels.shape
    height, width = image_shape
    rows, columns = (
        list(_phases(image_shape[d], kernel[d], stride[d], padding[d], dilation[d]))
        for d in range(2)
    )
    whole = sum(p.count for p in rows) == height and sum(p.count for p in columns) == width
    room = np.empty if whole else np.zeros
    out = room((n, channels * groups, height, width), grad.dtype)
    each = outputs // groups
    turned = kernels.reshape(groups, each, channels, *kernel).transpose(0, 2, 1, 3, 4)
    nothing = np.zeros(channels * groups, grad.dtype)
    for down in rows:
        for across in columns:
            weights = turned[..., down.taps, across.taps]
            windows = Windows(
                *grad.shape[2:],
                *(down.count, across.count),
                *weights.shape[3:],
                *(1, 1),
                *(down.padding, across.padding),
                *(down.dilation, across.dilation),
            )
            layout = Layout(
                down.first * width + across.first,
                channels * groups * height * width,
                height * width,
                stride[0] * width,
                stride[1],
            )
            flat = np.ascontiguousarray(weights).reshape(groups, channels, -1)
            _run_convolution(grad, flat, nothing, windows, each, out, layout)
    return out


# --- The gradient of the kernels ------------------------------------------------------------------


def _inner_sweep(rows: int) -> Any:
    """Return the function that adds to the gradients of some output channels, at most `rows`."""
    columns = INNER_COLUMNS
    tile = inner_tile(rows, columns)

    @njit(error_model="numpy")
    def sweep(
        out: Any, at: Any, used: Any, grad: Any, start: Any, steps: Any, seen: Any, size: Any,
        offsets: Any, images: Any, count: Any,
    ) -> None:  # fmt: skip
        step, following = steps
        taps = offsets.size
        for tap in range(0, taps, columns):
            wanted = min(columns, taps - tap)
            tile(
                out, at + tap, taps, used, wanted, grad, start, step, following, seen, 0, size,
                offsets, tap, images, count,
            )  # fmt: skip

    return sweep


_inner_largest, _inner_smaller, _inner_one = (
    _inner_sweep(LARGEST),
    _inner_sweep(SMALLER),
    _inner_sweep(1),
)


def _kernel_gradients(
    lo: Any, hi: Any, source: Any, grad: Any, totals: Any, extents: Any, windows: Any, strips: Any,
    held: Any,
) -> None:  # fmt: skip
    """Add up the gradients of the kernels; a unit is a part of all strips.

    Args:
        source: the images, flat.
        grad: the gradients of the convolution, flat.
        totals: for each part, room for its sums, which are 0 before.
        extents: images, groups, channels of one group, and outputs of one group.
        windows: which elements positions see.
        strips: how an image is cut.
        held: how many images are in the buffer at once; 1 if they are cut into strips.
    """
    images, groups, channels, outputs = extents
    windows, strips = Windows(*windows), Strips(*strips)
    columns = windows.columns
    positions = windows.rows * columns
    offsets = _offsets(channels, windows, strips)
    taps = offsets.size
    pixels = channels * windows.height * windows.width
    lanes = VECTOR_BYTES // source.itemsize
    seen = np.zeros(strips.size * held + lanes, source.dtype)
    padded = _room(windows, strips, source)
    parts, units = len(totals), images * strips.count
    for part in range(lo, hi):
        total = totals[part]
        last = units * (part + 1) // parts
        for unit in range(units * part // parts, last, held):
            count = min(held, last - unit)
            image, strip = unit // strips.count, unit % strips.count
            row = strip * strips.rows
            wide = min(strips.rows, windows.rows - row) * columns
            for group in range(groups):
                for i in range(count):
                    start = ((image + i) * groups + group) * pixels
                    _fill(seen, i * strips.size, padded, source, start, channels, row, windows, strips)
                first = 0
                while first < outputs:
                    size = _tile_rows(outputs - first)
                    used = min(outputs - first, size)
                    channel = group * outputs + first
                    at = channel * taps
                    start = (image * groups * outputs + channel) * positions + row * columns
                    steps = (positions, groups * outputs * positions)
                    if size == LARGEST:
                        _inner_largest(
                            total, at, used, grad, start, steps, seen, strips.size, offsets, count,
                            wide,
                        )  # fmt: skip
                    elif size == SMALLER:
                        _inner_smaller(
                            total, at, used, grad, start, steps, seen, strips.size, offsets, count,
                            wide,
                        )  # fmt: skip
                    else:
                        _inner_one(
                            total, at, used, grad, start, steps, seen, strips.size, offsets, count,
                            wide,
                        )  # fmt: skip
                    first += size


_KERNEL_GRADIENTS = Kernel.of(_kernel_gradients)


def kernel_gradient(
    grad: Array,
    images: Array,
    kernel_size: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
) -> Array:
    """Return the gradient of the kernels; the settings are those of `convolve`.

    Args:
        grad: the gradient of the convolution, shape (n, outputs, out height, out width).
        images: shape (n, channels, height, width).
        kernel_size: height and width of the kernels.
        stride: how far apart windows are.
        padding: zeros added on each side.
        dilation: how far apart the elements of a window are.
        groups: into how many independent parts the channels are split.

    Returns:
        Shape (outputs, channels / groups, kernel height, kernel width).
    """
    n, outputs, down, across = grad.shape
    channels, each = images.shape[1] // groups, outputs // groups
    shape = (outputs, channels, *kernel_size)
    taps = math.prod(shape[1:])
    if grad.size * taps == 0:
        return np.zeros(shape, grad.dtype)
    windows = Windows(
        *images.shape[2:], down, across, *kernel_size, *stride, *padding, *dilation
    )
    parallel = grad.size * taps >= PARALLEL_FROM
    strips = _strips(windows, channels, grad.itemsize, n if parallel else None, POSITIONS)
    parts = min(numba.get_num_threads() if parallel else 1, n * strips.count)
    held = 1
    if strips.count == 1:
        held = min(max(POSITIONS // (down * across), 1), -(-n // parts))
    totals = np.zeros((parts, outputs * taps), grad.dtype)
    extents = (n, groups, channels, each)
    arguments = (totals, extents, tuple(windows), tuple(strips), held)
    _KERNEL_GRADIENTS.run(parts, parallel, images.reshape(-1), grad.reshape(-1), *arguments)
    return totals.sum(0).reshape(shape)
