"""Convolution as a matrix product whose left matrix is never stored.

The rows of the product are points, its columns the channels of the result, and the inner dimension
the taps of all channels of the source. Each block computes a tile, as in `core/matrix.py`: strip by
strip, the window elements of its points at some taps, and the kernels at these taps, are copied to
shared memory and multiplied. `windows` defines the positions that a point reads, so that the same
kernel computes the gradient of the images, and transposed convolutions. Adjacent threads have
adjacent points: they read and write adjacent elements.

The first layers of a network have millions of points and a few channels, the last layers the
opposite: there are tiles for each.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.elements import computed, load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, define, indented, numbers
from mt_cuda.core.machine import Size
from mt_cuda.images import windows
from mt_fast.extending import constant, converted
from mt_tensor import DType


@dataclass(frozen=True, slots=True)
class Tile:
    """How a block computes its part.

    Attributes:
        points: the number of points per block.
        channels: the number of channels of the result per block.
        each_points: the number of points per thread.
        each_channels: the number of channels per thread.
    """

    points: int
    channels: int
    each_points: int
    each_channels: int

    @property
    def threads(self) -> int:
        """The number of threads per block, at most the number of points."""
        return self.points // self.each_points * (self.channels // self.each_channels)

    def blocks(self, points: int, channels: int, groups: int) -> int:
        """Return the number of blocks for `points` points, and `channels` channels per group."""
        return groups * -(-points // self.points) * -(-channels // self.channels)

    @property
    def cost(self) -> float:
        """The approximate number of instructions of all threads of a block for one tap."""
        looks = 10 * self.points // self.threads
        reads = self.each_points + self.each_channels / 4
        return max(self.threads, 64) * (self.each_points * self.each_channels + reads + looks + 4)


TILES = (
    Tile(256, 1, 4, 1),
    Tile(256, 4, 4, 4),
    Tile(256, 8, 4, 8),
    Tile(64, 8, 2, 4),
    Tile(128, 16, 4, 8),
    Tile(128, 32, 4, 8),
    Tile(32, 32, 8, 4),
    Tile(64, 32, 4, 8),
    Tile(128, 64, 8, 8),
    Tile(64, 64, 8, 8),
)
"""Tiles for machines whose blocks have at least a warp of threads."""

TINY = (Tile(8, 1, 2, 1), Tile(8, 4, 4, 4), Tile(4, 8, 2, 4))
"""Tiles for machines with smaller blocks."""

DEPTH = 16
"""The number of taps in shared memory at a time."""

TOTALS_BYTES = 256
"""The number of bytes of totals that fit into the registers of a thread."""


def choose(points: int, channels: int, groups: int, compute: DType, size: Size) -> Tile:
    """Return the tile with the least cost on the busiest multiprocessor."""

    def cost(tile: Tile) -> float:
        return -(-tile.blocks(points, channels, groups) // size.enough) * tile.cost

    def fits(tile: Tile) -> bool:
        return tile.each_points * tile.each_channels * compute.itemsize <= TOTALS_BYTES

    return min(filter(fits, TINY if size.threads < 32 else TILES), key=cost)


@dataclass(frozen=True, slots=True)
class Convolution:
    """The parameters of a kernel.

    Attributes:
        dtype: the dtype of the elements.
        tile: how a block computes its part.
        dilated: whether the source is dilated with zeros.
        transposed: whether taps are counted from the last one.
        biased: whether there is a bias.
    """

    dtype: DType
    tile: Tile
    dilated: bool
    transposed: bool
    biased: bool


def convolution(form: Convolution) -> Kernel:
    """Return the kernel that computes each channel of each point of `target`.

    The result is the sum, over the channels of the source and the taps, of window elements times
    `weight`, whose strides are `weight_column` for channels of the result and `weight_row` for
    channels of the source. Groups have separate channels.
    """
    tile, compute = form.tile, computed(form.dtype)
    rounds = tile.points // tile.threads
    body = [
        *windows.tap_tables(DEPTH),
        f"tap_weight = cuda.shared.array({DEPTH}, index32)",
        f"seen = cuda.shared.array({DEPTH * tile.points}, {compute.name})",
        f"kernels = cuda.shared.array({DEPTH * tile.channels}, {compute.name})",
        f"totals = cuda.local.array(({tile.each_points}, {tile.each_channels}), {compute.name})",
        f"each = cuda.local.array({tile.each_points}, {compute.name})",
        *(f"{name} = cuda.local.array({rounds}, index32)" for name in POINT),
        *windows.begin(form.dilated),
        *windows.narrowed("points", "channels", "source_channels", "groups"),
        *_find_tile(tile),
        "inner = n_source_channels * taps",
        f"for i in range({rounds}):",
        f"    point = first_point + thread + {tile.threads} * i",
        *indented(windows.find_point("point", "point < n_points", "i")),
        "    start[i] = (image[i] * n_groups + group) * n_source_channels * source_plane",
        f"for i in range({tile.each_points}):",
        f"    for k in range({tile.each_channels}):",
        f"        totals[i, k] = {constant(0, compute)}",
        "first = index32(0)",
        "while first < inner:",
        f"    count = min(inner - first, {DEPTH})",
        *indented(_find_taps(form)),
        "    cuda.syncthreads()",
        *indented(_look(form, rounds)),
        *indented(_load_kernels(form)),
        "    cuda.syncthreads()",
        *indented(_multiply(form)),
        f"    first += {DEPTH}",
        *_store(form),
    ]
    name = f"convolution_{form.dtype.name}_{tile.points}x{tile.channels}"
    name += "_dilated" * form.dilated + "_turned" * form.transposed + "_biased" * form.biased
    parameters = [
        *numbers("points", "channels", "source_channels", "groups", *windows.NUMBERS),
        *numbers("weight_group", "weight_row", "weight_column"),
        *operand("source", form.dtype),
        *operand("weight", form.dtype),
        *(operand("bias", form.dtype) if form.biased else ()),
        *operand("target", form.dtype),
    ]
    return define(name, parameters, body, "groups", "channels", *windows.WORK)


POINT = ("image", "place", "top", "left", "start")
"""The variables of a thread for each of its points."""


def _find_tile(tile: Tile) -> Lines:
    """Return the lines that find a block's tile, and a thread's part of it."""
    return [
        "thread = cuda.threadIdx.x",
        f"across = (n_channels + {tile.channels - 1}) // {tile.channels}",
        f"along = (n_points + {tile.points - 1}) // {tile.points}",
        f"first_channel = cuda.blockIdx.x % across * {tile.channels}",
        f"first_point = cuda.blockIdx.x // across % along * {tile.points}",
        "group = cuda.blockIdx.x // across // along",
        f"down = thread % {tile.points // tile.each_points}",
        f"right = thread // {tile.points // tile.each_points} * {tile.each_channels}",
    ]


def _find_taps(form: Convolution) -> Lines:
    """Return the lines that write the taps of a strip to the tables."""
    transposed = "taps - 1 - tap" if form.transposed else "tap"
    return [
        "e = thread",
        "while e < count:",
        *indented(windows.find_tap("(first + e)")),
        f"    tap_weight[e] = channel * index32(weight_row) + {transposed}",
        f"    e += {form.tile.threads}",
    ]


def _look(form: Convolution, rounds: int) -> Lines:
    """Return the lines that load the window elements of a block's points at the taps of a strip."""
    compute = computed(form.dtype)
    value = load("source[source_at + start[i] + at]", form.dtype, compute)
    return [
        "for j in range(count):",
        f"    for i in range({rounds}):",
        f"        value = {constant(0, compute)}",
        *indented(indented(windows.look("value", value, "j", form.dilated, "i"))),
        f"        seen[{form.tile.points} * j + thread + {form.tile.threads} * i] = value",
    ]


def _load_kernels(form: Convolution) -> Lines:
    """Return the lines that load the kernels at the taps of a strip."""
    tile, compute = form.tile, computed(form.dtype)
    at = "weight_at + group * weight_group + (first_channel + k) * weight_column + tap_weight[j]"
    return [
        "e = thread",
        f"while e < {DEPTH * tile.channels}:",
        f"    j = e % {DEPTH}",
        f"    k = e // {DEPTH}",
        f"    value = {constant(0, compute)}",
        "    if (j < count) & (first_channel + k < n_channels):",
        f"        value = {load(f'weight[{at}]', form.dtype, compute)}",
        f"    kernels[{tile.channels} * j + k] = value",
        f"    e += {tile.threads}",
    ]


def _multiply(form: Convolution) -> Lines:
    """Return the lines that add the products of a strip to a thread's totals."""
    tile, lanes = form.tile, 16 // computed(form.dtype).itemsize
    step = tile.points // tile.each_points
    at = f"{tile.channels} * j + right"
    lines = [
        f"for i in range({tile.each_points}):",
        f"    each[i] = seen[{tile.points} * j + down + {step} * i]",
    ]
    for k in range(0, tile.each_channels, lanes):
        if tile.each_channels % lanes:
            lines += [
                f"for k in range({tile.each_channels}):",
                f"    for i in range({tile.each_points}):",
                f"        totals[i, k] += each[i] * kernels[{at} + k]",
            ]
            break
        lines += [
            f"part{k} = load{lanes}(kernels, {at} + {k})",
            f"for i in range({tile.each_points}):",
            f"    for k in range({lanes}):",
            f"        totals[i, k + {k}] += each[i] * part{k}[k]",
        ]
    return ["for j in range(count):", *indented(lines)]


def _store(form: Convolution) -> Lines:
    """Return the lines that store a thread's totals, except beyond the edges."""
    tile, compute = form.tile, computed(form.dtype)
    total = "totals[i, k]"
    if form.biased:
        total += " + " + load("bias[bias_at + group * n_channels + channel]", form.dtype, compute)
    value = store(converted(total, compute, form.dtype), form.dtype)
    return [
        f"for i in range({tile.each_points}):",
        f"    point = first_point + down + {tile.points // tile.each_points} * i",
        "    if point < n_points:",
        "        shown = (point // point_plane * n_groups + group) * n_channels",
        f"        for k in range({tile.each_channels}):",
        "            channel = first_channel + right + k",
        "            if channel < n_channels:",
        "                at = (shown + channel) * point_plane + point % point_plane",
        f"                target[target_at + at] = {value}",
    ]
