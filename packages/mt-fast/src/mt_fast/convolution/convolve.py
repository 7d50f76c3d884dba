"""Convolution and its gradients, as products of matrices.

The windows are copied to a buffer (`windows.py`) and multiplied by the kernels, a tile at a time
(`tiles.py`).

- The convolution is `kernels @ windows`.
- The gradient of the kernels is `gradients @ windows.T`, summed over the images.
- The gradient of the images is a convolution of the gradients with the transposed kernels. With a
  stride of s, image elements at a distance of s are reached by the same elements of the kernel, and
  the elements between them by other ones. So there is one convolution per *phase*, a position
  within the stride.

Arrays are C-contiguous and of one dtype, float32 or float64; pairs are (height, width). Images that
are 1 high are processed as if they were 1 wide: rows of the output are then adjacent in memory.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mt_fast.convolution.windows import (
    Strips,
    Windows,
    buffer,
    channels_that_fit,
    fill,
    plan,
    rows_that_fit,
)
from mt_fast.core.kernel import Kernel
from mt_fast.core.tables import empty, thread_count
from mt_fast.gemm.gemm import add_rows
from mt_fast.gemm.inner_products import inner_products
from mt_fast.gemm.tiles import LARGEST, product
from mt_fast.vectors.compiler import inner
from mt_fast.vectors.instructions import copy_to_strided
from mt_tensor.extending import Array

Pair = tuple[int, int]

PARALLEL_FROM = 2**18
"""The number of multiplications from which all threads are used: they take about as long as waking
a sleeping thread. Starting a thread that is awake takes almost no time."""

MIN_CHANNELS = 32
"""The minimum number of channels in the buffer at once: adding the results of fewer channels takes
as long as computing them."""

POSITIONS = 1024
"""The number of positions of a strip for the gradient of kernels: the gradients at these positions,
in a tile of rows, should stay in the L1 cache."""


# --- Convolution ----------------------------------------------------------------------------------


class Layout(NamedTuple):
    """The layout of a result in an array: a start, and strides in elements."""

    start: int
    image: int
    channel: int
    row: int
    column: int


class Part(NamedTuple):
    """A part of a result that is convolved with the same elements of the kernel.

    Attributes:
        layout: the layout of its elements.
        rows: the number of its rows, at most that of the windows.
        columns: the number of its columns.
        taps: the positions of these elements in the flat kernel.
    """

    layout: Layout
    rows: int
    columns: int
    taps: tuple[int, ...]


class Settings(NamedTuple):
    """The settings of a convolution.

    Attributes:
        stride: the distance between windows.
        padding: zeros added on each side.
        dilation: the distance between the elements of a window.
        groups: the number of independent groups of channels.
    """

    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int

    def transposed(self) -> Settings:
        """Return the settings for images with rows and columns exchanged."""
        return Settings(self.stride[::-1], self.padding[::-1], self.dilation[::-1], self.groups)


def convolve(images: Array, kernels: Array, bias: Array | None, settings: Settings) -> Array:
    """Slide kernels over images (cross-correlation, as in torch).

    Args:
        images: shape (n, channels, height, width).
        kernels: shape (outputs, channels / groups, kernel height, kernel width); with its dilation
            a kernel is not larger than a padded image.
        bias: shape (outputs,), or None.
        settings: stride, padding, dilation and groups.

    Returns:
        Shape (n, outputs, out height, out width), where a size becomes `(size + 2 * padding -
        dilation * (kernel - 1) - 1) // stride + 1`.
    """
    if _is_row(images.shape, kernels.shape, settings):
        return _transposed(
            convolve(_transposed(images), _transposed(kernels), bias, settings.transposed())
        )
    shape, work = _forward_plan(
        images.shape, kernels.shape, settings, images.itemsize, thread_count()
    )
    out = empty(shape, images.dtype)
    start = np.zeros(shape[1], images.dtype) if bias is None else bias
    _convolve_into(out, work, images, kernels, start)
    return out


def _is_row(image: Sequence[int], kernel: Sequence[int], settings: Settings) -> bool:
    """Return whether a convolution is one of rows: height 1 without padding, and width above 1.

    The shapes of image and kernel are (..., height, width); the width is that of the image.
    """
    return image[-2] == kernel[-2] == 1 and settings.padding[0] == 0 and image[-1] > 1


def _transposed(array: Array) -> Array:
    """Exchange the last two dimensions of an array, one of which is 1."""
    *outer, height, width = array.shape
    return array.reshape(*outer, width, height)


class Work(NamedTuple):
    """A convolution, arranged for the kernel.

    Attributes:
        units: the number of units of work.
        parallel: whether all threads share them.
        offsets: for each part, the starts of the rows of the windows in the buffer.
        table: the parts; a row has the layout of one, the numbers of its rows and columns, and
            where its offsets start and end.
        settings: the arguments of the kernel after the arrays.
    """

    units: int
    parallel: bool
    offsets: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]
    settings: tuple[Any, ...]


@functools.lru_cache(256)
def _forward_plan(
    images: tuple[int, ...],
    kernels: tuple[int, ...],
    settings: Settings,
    itemsize: int,
    threads: int,
) -> tuple[tuple[int, ...], Work | None]:
    """Return the shape of a result, and its work, given the shapes of the factors."""
    stride, padding, dilation, groups = settings
    n, _, *lengths = images
    outputs, channels, *kernel = kernels
    rows, columns = (
        (lengths[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1
        for d in range(2)
    )
    windows = Windows._make((*lengths, rows, columns, *kernel, *stride, *padding, *dilation))
    layout = Layout(0, outputs * rows * columns, rows * columns, columns, 1)
    parts = [Part(layout, rows, columns, tuple(range(math.prod(kernel))))]
    sizes = (n, groups, channels, outputs // groups)
    return (n, outputs, rows, columns), _plan_work(windows, parts, sizes, itemsize, threads)


def _plan_work(
    windows: Windows,
    parts: Sequence[Part],
    sizes: tuple[int, int, int, int],
    itemsize: int,
    threads: int,
) -> Work | None:
    """Return the work for parts of a result; None if there is nothing to compute.

    Args:
        windows: the windows of the positions.
        parts: the parts of the result.
        sizes: the number of images, of groups, and of a group's channels and outputs.
        itemsize: bytes of an element.
        threads: the number of threads.
    """
    n, groups, channels, outputs = sizes
    taps = sum(len(part.taps) for part in parts)
    positions = n * groups * windows.rows * windows.columns
    if not positions * outputs * taps:
        return None
    parallel = positions * outputs * channels * taps >= PARALLEL_FROM
    units = n * groups
    rows_per_thread = -(-windows.rows * units // (threads if parallel else 1))
    dense = {(1, windows.columns)} == {(part.layout.column, part.layout.row) for part in parts}
    block_channels = _block_channels(windows, channels, itemsize) if dense else max(channels, 1)
    rows = min(rows_that_fit(windows, block_channels, itemsize), rows_per_thread)
    strips, offsets = plan(windows, block_channels, rows)
    by_tap = offsets.reshape(block_channels, windows.kernel_height * windows.kernel_width)
    rows_of_parts = [by_tap[:, part.taps].reshape(-1) for part in parts]
    ends = list(itertools.accumulate((len(each) for each in rows_of_parts), initial=0))
    table = [
        (*part.layout, part.rows, part.columns, *bounds)
        for part, bounds in zip(parts, itertools.pairwise(ends), strict=True)
    ]
    settings = ((groups, channels, outputs, block_channels), tuple(windows), tuple(strips))
    arrays = (np.concatenate(rows_of_parts), np.array(table, np.int64))
    return Work(units * strips.number, parallel, *arrays, settings)


def _block_channels(windows: Windows, channels: int, itemsize: int) -> int:
    """Return the number of channels in the buffer at once, so that blocks have about equal size.

    It does not depend on the number of threads, since it determines the order of additions.
    """
    channels = max(channels, 1)
    fit = max(channels_that_fit(windows, windows.rows, itemsize), MIN_CHANNELS)
    return -(-channels // -(-channels // fit))


def _convolve_into(
    out: Array, work: Work | None, images: Array, weights: Array, bias: Array
) -> None:
    """Run a convolution; the weights of all parts follow each other, each (outputs, taps)."""
    if work is not None:
        arguments = (images.reshape(-1), weights.reshape(-1), bias, work.offsets, out.reshape(-1))
        _CONVOLUTION.run(work.units, work.parallel, *arguments, work.table, *work.settings)


def _convolution(
    lo: Any, hi: Any, images: Any, weights: Any, bias: Any, offsets: Any, out: Any, table: Any,
    lengths: Any, windows: Any, strips: Any,
) -> None:  # fmt: skip
    """Convolve; a unit is a strip of a group of an image.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        images: the images, flat.
        weights: the weights of all parts, flat, each of shape (outputs, taps).
        bias: the biases of all outputs.
        offsets: for each part, the starts of the rows of the windows in the buffer.
        out: the results, flat.
        table: the parts, see `Work`.
        lengths: groups, channels of one group, outputs of one group, and the number of channels in
            the buffer at once: all of them, unless lines of the result are lines of the buffer.
        windows: the windows of the positions.
        strips: how images are cut into strips.
    """
    groups, channels, outputs, block = lengths
    windows, strips = Windows(*windows), Strips(*strips)
    planes = buffer(strips, 1, images)
    scratch = np.empty(LARGEST * strips.rows * windows.columns, out.dtype)
    zeros = np.zeros(LARGEST, out.dtype)
    for unit in range(lo, hi):
        image_group, strip = unit // strips.number, unit % strips.number
        image, group = image_group // groups, image_group % groups
        row = strip * strips.rows
        rows = min(strips.rows, windows.rows - row)
        count = rows * windows.columns
        for done in range(0, max(channels, 1), block):  # without channels there is a bias
            channel_count = min(block, channels - done)
            start = (image_group * channels + done) * windows.height * windows.width
            fill(planes, images, start, channel_count, row, windows, strips)
            for first in range(0, outputs, LARGEST):
                used, channel = min(LARGEST, outputs - first), group * outputs + first
                for part in range(len(table)):
                    layout = Layout(
                        table[part, 0], table[part, 1], table[part, 2], table[part, 3],
                        table[part, 4],
                    )  # fmt: skip
                    begin, part_taps = table[part, 7], (table[part, 8] - table[part, 7]) // block
                    taps = part_taps * channels
                    weight = groups * outputs * begin + channel * taps + part_taps * done
                    at = layout.start + image * layout.image + channel * layout.channel
                    at += row * layout.row
                    is_contiguous = layout.column == 1 and layout.row == windows.columns
                    staged = done > 0 or not is_contiguous
                    target, to, step = (scratch, 0, count) if staged else (out, at, layout.channel)
                    starts, origin = (zeros, 0) if done else (bias, channel)
                    product(
                        target, to, step, used, count, starts, origin, weights, weight, (taps, 1),
                        planes, 0, offsets, begin, part_taps * channel_count,
                    )  # fmt: skip
                    if not is_contiguous:
                        sizes_of_part = (used, min(rows, table[part, 5] - row), table[part, 6])
                        _scatter(scratch, count, windows.columns, out, at, sizes_of_part, layout)
                    elif staged:
                        add_rows(out, at, layout.channel, scratch, count, used, count)


@inner
def _scatter(
    scratch: Any, channel_stride: Any, width: Any, out: Any, start: Any, lengths: Any, layout: Any
) -> None:
    """Copy results from `scratch` to the result.

    In `scratch`, channels are `channel_stride` apart, and lines have the length `width`, of which
    the result takes as many elements as its lengths give.
    """
    channels, rows, columns = lengths
    row_step, step = layout.row, layout.column
    if width == 1:  # a column, which is copied like a line
        rows, columns, step = 1, rows, row_step
    for channel in range(channels):
        for row in range(rows):
            at = start + channel * layout.channel + row * row_step
            copy_to_strided(out, at, step, scratch, channel * channel_stride + row * width, columns)


_CONVOLUTION = Kernel.of(_convolution, allocates=True)


# --- The gradient of the images -------------------------------------------------------------------


def image_gradient(grad: Array, kernels: Array, image_shape: Pair, settings: Settings) -> Array:
    """Return the gradient of the images of a convolution.

    Args:
        grad: the gradient of its result, shape (n, outputs, out height, out width).
        kernels: shape (outputs, channels / groups, kernel height, kernel width), all finite: they
            are multiplied by the padding of the gradients, too.
        image_shape: height and width of the images.
        settings: the settings of the convolution.

    Returns:
        Shape (n, channels, height, width).
    """
    if _is_row(image_shape, kernels.shape, settings):
        exchanged = (_transposed(grad), _transposed(kernels), image_shape[::-1])
        return _transposed(image_gradient(*exchanged, settings.transposed()))
    shape, taps, covers_all, work = _gradient_plan(
        grad.shape, kernels.shape, image_shape, settings, grad.itemsize, thread_count()
    )
    out = empty(shape, grad.dtype) if covers_all else np.zeros(shape, grad.dtype)
    if work is not None:
        groups = settings.groups
        outputs, channels, *kernel = kernels.shape
        by_channel = kernels.reshape(groups, outputs // groups, channels, *kernel).swapaxes(1, 2)
        weights = [np.ascontiguousarray(by_channel[..., i, j]).reshape(-1) for i, j in taps]
        zeros = np.zeros(shape[1], grad.dtype)
        joined = weights[0] if len(weights) == 1 else np.concatenate(weights)
        _convolve_into(out, work, grad, joined, zeros)
    return out


class Phase(NamedTuple):
    """The taps and positions for the gradient of every `stride`-th element of a dimension.

    Attributes:
        first: the first of these elements.
        length: the number of these elements.
        taps: the elements of the kernel that reach them, last one first.
        shifts: for each tap, the output position that reaches element 0 through it; element q is
            reached from position `q + shift`.
    """

    first: int
    length: int
    taps: slice
    shifts: tuple[int, ...]


def _phases(kernel: int, length: int, stride: int, padding: int, dilation: int) -> Iterator[Phase]:
    """Yield the phases of one dimension, except for those that no tap reaches.

    Output position q reaches, through tap k, the element `q * stride + k * dilation - padding`. The
    gradient of an element is the sum, over the taps for which there is such a q, of the gradients
    at these q, each times the weight of the tap.
    """
    tap_step = stride // math.gcd(stride, dilation)  # taps of one phase
    for first in sorted({(k * dilation - padding) % stride for k in range(kernel)}):
        if first >= length:
            break
        taps = [k for k in range(kernel) if (first + padding - k * dilation) % stride == 0]
        stop = taps[0] - tap_step  # the slice down to 0 ends with None
        yield Phase(
            first,
            -(-(length - first) // stride),
            slice(taps[-1], None if stop < 0 else stop, -tap_step),
            tuple((first + padding - k * dilation) // stride for k in reversed(taps)),
        )


@functools.lru_cache(256)
def _gradient_plan(
    grad: tuple[int, ...],
    kernels: tuple[int, ...],
    image: Pair,
    settings: Settings,
    itemsize: int,
    threads: int,
) -> tuple[tuple[int, ...], list[tuple[slice, slice]], bool, Work | None]:
    """Express the gradient of the images as a convolution of the gradients.

    The kernel of the windows has all shifts of all phases. For each phase of rows and each phase of
    columns there is a part of the images.

    Returns:
        The shape of the gradient; for each part the elements of the kernel that reach it; whether
        all elements are reached; and the work.
    """
    stride, padding, dilation, groups = settings
    n, outputs, rows, columns = grad
    _, channels, *kernel = kernels
    phases = [
        list(_phases(kernel[d], image[d], stride[d], padding[d], dilation[d])) for d in range(2)
    ]
    (top, down, height), (left, across, width) = (_common(phases[d]) for d in range(2))
    lengths = (max((phase.length for phase in phases[d]), default=0) for d in range(2))
    movement = (height, width, 1, 1, -top, -left, down, across)
    windows = Windows._make((rows, columns, *lengths, *movement))
    size = image[0] * image[1]
    parts, taps = [], []
    for vertical, horizontal in itertools.product(*phases):
        start = vertical.first * image[1] + horizontal.first
        layout = Layout(start, channels * groups * size, size, stride[0] * image[1], stride[1])
        numbers = tuple(
            (i - top) // down * width + (j - left) // across
            for i in vertical.shifts
            for j in horizontal.shifts
        )
        parts.append(Part(layout, vertical.length, horizontal.length, numbers))
        taps.append((vertical.taps, horizontal.taps))
    covers_all = sum(part.rows * part.columns for part in parts) == size
    work = _plan_work(windows, parts, (n, groups, outputs // groups, channels), itemsize, threads)
    return (n, channels * groups, *image), taps, covers_all and work is not None, work


def _common(phases: Sequence[Phase]) -> tuple[int, int, int]:
    """Return the first shift of some phases, the greatest common step, and the number of steps."""
    shifts = [shift for phase in phases for shift in phase.shifts] or [0]
    first = min(shifts)
    step = math.gcd(*(shift - first for shift in shifts)) or 1
    return first, step, (max(shifts) - first) // step + 1


# --- The gradient of the kernels ------------------------------------------------------------------


def kernel_gradient(grad: Array, images: Array, kernel_size: Pair, settings: Settings) -> Array:
    """Return the gradient of the kernels of a convolution.

    Args:
        grad: the gradient of its result, shape (n, outputs, out height, out width).
        images: shape (n, channels, height, width).
        kernel_size: height and width of the kernels.
        settings: the settings of the convolution.

    Returns:
        Shape (outputs, channels / groups, kernel height, kernel width).
    """
    if _is_row(images.shape, kernel_size, settings):
        exchanged = (_transposed(grad), _transposed(images), kernel_size[::-1])
        return _transposed(kernel_gradient(*exchanged, settings.transposed()))
    stride, padding, dilation, groups = settings
    n, outputs, rows, columns = grad.shape
    channels = images.shape[1] // groups
    shape = (outputs, channels, *kernel_size)
    taps = math.prod(shape[1:])
    if grad.size * taps == 0:
        return np.zeros(shape, grad.dtype)
    pairs = (images.shape[2:], grad.shape[2:], kernel_size, stride, padding, dilation)
    windows = Windows._make(itertools.chain(*pairs))
    threads = thread_count() if grad.size * taps >= PARALLEL_FROM else 1
    strip_rows = min(max(POSITIONS // columns, 1), -(-rows * n // threads), rows)
    single = strip_rows == rows  # then several small images can be in the buffer at once
    block_images = max(min(POSITIONS // (rows * columns), -(-n // threads)), 1) if single else 1
    block = min(channels, channels_that_fit(windows, strip_rows, block_images * grad.itemsize))
    strips, offsets = plan(windows, block, strip_rows)
    parts = min(threads, n * strips.number)
    totals = np.zeros((parts, outputs * taps), grad.dtype)
    lengths = (n, groups, channels, outputs // groups)
    arrays = (images.reshape(-1), grad.reshape(-1), offsets, totals.reshape(-1))
    sizes = (lengths, tuple(windows), tuple(strips), (block, block_images))
    _KERNEL_GRADIENTS.run(parts, threads > 1, *arrays, *sizes)
    total: Array = totals[0] if parts == 1 else totals.sum(0)
    return total.reshape(shape)


def _kernel_gradients(
    lo: Any, hi: Any, images: Any, grad: Any, offsets: Any, totals: Any, lengths: Any, windows: Any,
    strips: Any, at_once: Any,
) -> None:  # fmt: skip
    """Add up the gradients of the kernels; a unit is one of equal parts of all strips.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        images: the images, flat.
        grad: the gradients of the convolution, flat.
        offsets: the starts of the rows of the windows in the buffer.
        totals: scratch for the sums of each part, filled with zeros; flat.
        lengths: images, groups, channels of one group, and outputs of one group.
        windows: the windows of the positions.
        strips: how images are cut into strips.
        at_once: the number of channels in the buffer at once, and of images: one, if an image has
            several strips.
    """
    number, groups, channels, outputs = lengths
    windows, strips = Windows(*windows), Strips(*strips)
    block_channels, block_images = at_once
    planes = buffer(strips, block_images, images)
    positions = windows.rows * windows.columns
    steps = (positions, groups * outputs * positions)
    elements = windows.kernel_height * windows.kernel_width
    blocks = -(-channels // block_channels)
    size = groups * outputs * channels * elements
    parts, units = totals.size // size, number * strips.number
    for part in range(lo, hi):
        last = units * (part + 1) // parts
        for unit in range(units * part // parts, last, block_images):
            image, strip = unit // strips.number, unit % strips.number
            image_count = min(block_images, last - unit)
            row = strip * strips.rows
            count = min(strips.rows, windows.rows - row) * windows.columns
            for channel_block in range(groups * blocks):
                group, block = channel_block // blocks, channel_block % blocks
                first_channel = block * block_channels
                channel_count = min(block_channels, channels - first_channel)
                for i in range(image_count):
                    start = ((image + i) * groups + group) * channels + first_channel
                    start *= windows.height * windows.width
                    to = planes[i * strips.size :]
                    fill(to, images, start, channel_count, row, windows, strips)
                for first in range(0, outputs, LARGEST):
                    output = group * outputs + first
                    at = (output * channels + first_channel) * elements
                    start = (image * groups * outputs + output) * positions
                    start += row * windows.columns
                    inner_products(
                        totals, part * size + at, channels * elements,
                        min(LARGEST, outputs - first), grad, start, steps, planes, 0, strips.size,
                        offsets, 0, channel_count * elements, image_count, count,
                    )  # fmt: skip


_KERNEL_GRADIENTS = Kernel.of(_kernel_gradients, allocates=True)
