"""The gradient of a convolution's kernels and biases: few sums, each of millions of products.

For each kernel and each of its taps the gradient is the sum, over all points, of the point's
upstream gradient times its window element at the tap. As a matrix product this has a row for each
kernel and a column for each tap of each channel. One more column, of ones, is the gradient of the
bias.

There are so few sums that blocks must share them: each block processes part of the points, and
stores its totals in a workspace. A second launch adds these, always in the same order.
"""

from __future__ import annotations

from mt_cuda.core.elements import computed, load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, define, indented, numbers
from mt_cuda.core.machine import Size
from mt_cuda.images import windows
from mt_cuda.matrices.tiles import Cut, Tile
from mt_cuda.rows.kernels import Operand, Rows
from mt_cuda.rows.teams import Team
from mt_fast.extending import constant, converted
from mt_tensor import DType

TILES = (
    Tile(4, 16, 32, 1, 1),
    Tile(8, 16, 32, 2, 1),
    Tile(8, 48, 32, 2, 3),
    Tile(16, 32, 32, 2, 4),
    Tile(16, 80, 32, 4, 5),
    Tile(32, 32, 32, 4, 4),
    Tile(32, 96, 32, 4, 6),
    Tile(64, 64, 32, 4, 8),
)
"""Tiles for machines whose blocks have at least a warp of threads: rows are kernels, columns taps,
and the depth is the number of points in shared memory, which divides the number of threads."""

TINY = (Tile(4, 4, 4, 2, 2), Tile(4, 8, 4, 2, 2))
"""Tiles for machines with smaller blocks."""


def choose(rows: int, columns: int, groups: int, points: int, size: Size) -> Cut:
    """Return how to split sums over points, given the numbers of kernels and columns of a group."""

    def tiles(tile: Tile) -> int:
        return groups * -(-rows // tile.rows) * -(-columns // tile.columns)

    def cost(tile: Tile) -> float:
        """Return the approximate number of instructions of all blocks for one point."""
        each = tile.each_rows * tile.each_columns + (tile.each_rows + tile.each_columns) / 4
        return tiles(tile) * (10 * (tile.rows + tile.columns) + tile.threads * each)

    tile = min(TINY if size.threads < 32 else TILES, key=cost)
    strips = -(-points // tile.depth)
    span = -(-strips // max(1, size.parallel // tiles(tile))) * tile.depth
    return Cut(tile, tiles(tile), -(-points // span), span)


def partial_sums(dtype: DType, tile: Tile) -> Kernel:
    """Return the kernel that stores the totals of part y of the points in row y of `target`.

    Each row has the gradients of all kernels, followed by those of all biases.

    Args:
        dtype: the dtype of the elements.
        tile: how a block computes its part.
    """
    compute = computed(dtype)
    pitch = tile.depth + 16 // compute.itemsize  # so that rows are in different memory banks
    shape = f"({tile.each_rows}, {tile.each_columns})"
    body = [
        *windows.tap_tables(tile.columns),
        f"fill = cuda.shared.array({tile.columns}, {compute.name})",
        f"grads = cuda.shared.array({tile.rows * pitch}, {compute.name})",
        f"seen = cuda.shared.array({tile.columns * pitch}, {compute.name})",
        f"totals = cuda.local.array({shape}, {compute.name})",
        *windows.begin(dilated=False),
        *windows.narrowed("points", "kernels", "source_channels", "groups", "span"),
        *_find_tile(tile),
        *_find_taps(tile, compute),
        f"for i in range({tile.each_rows}):",
        f"    for k in range({tile.each_columns}):",
        f"        totals[i, k] = {constant(0, compute)}",
        "first = cuda.blockIdx.y * n_span",
        "end = min(first + n_span, n_points)",
        "while first < end:",
        "    cuda.syncthreads()",
        *indented(_load(dtype, tile, pitch)),
        "    cuda.syncthreads()",
        *indented(_multiply(tile, pitch, 16 // compute.itemsize)),
        f"    first += {tile.depth}",
        *_store(tile),
    ]
    name = f"convolution_weights_{dtype.name}_{tile.rows}x{tile.columns}"
    parameters = [
        *numbers("points", "kernels", "source_channels", "groups", "span", *windows.NUMBERS),
        *operand("grad", dtype),
        *operand("source", dtype),
        *operand("target", compute),
    ]
    return define(name, parameters, body, "groups", "kernels", *windows.WORK)


def _find_tile(tile: Tile) -> Lines:
    """Return the lines that find a block's tile, and a thread's part of it."""
    beside = tile.columns // tile.each_columns
    return [
        "inner = n_source_channels * taps",
        "thread = cuda.threadIdx.x",
        f"across = (inner + {tile.columns}) // {tile.columns}  # with the column of the bias",
        f"along = (n_kernels + {tile.rows - 1}) // {tile.rows}",
        f"first_column = cuda.blockIdx.x % across * {tile.columns}",
        f"first_row = cuda.blockIdx.x // across % along * {tile.rows}",
        "group = cuda.blockIdx.x // across // along",
        f"down = thread // {beside}",
        f"right = thread % {beside}",
        f"lane = thread % {tile.depth}",
        f"line = thread // {tile.depth}",
    ]


def _find_taps(tile: Tile, compute: DType) -> Lines:
    """Return the lines that write the taps of a block to the tables."""
    one, zero = constant(1, compute), constant(0, compute)
    return [
        "e = thread",
        f"while e < {tile.columns}:",
        *indented(windows.find_tap("(first_column + e)", "first_column + e < inner")),
        f"    fill[e] = {one} if first_column + e == inner else {zero}",
        f"    e += {tile.threads}",
    ]


def _load(dtype: DType, tile: Tile, pitch: int) -> Lines:
    """Return the lines that load the gradients of some points, and their window elements."""
    compute, lines = computed(dtype), tile.threads // tile.depth
    grad = "grad[grad_at + (shown + row) * point_plane + place]"
    seen = load("source[source_at + start + at]", dtype, compute)
    return [
        "point = first + lane",
        *windows.find_point("point", "point < end"),
        "start = (image * n_groups + group) * n_source_channels * source_plane",
        "shown = (image * n_groups + group) * n_kernels",
        f"for i in range({tile.rows // lines}):",
        f"    e = line + {lines} * i",
        "    row = first_row + e",
        f"    value = {constant(0, compute)}",
        "    if (point < end) & (row < n_kernels):",
        f"        value = {load(grad, dtype, compute)}",
        f"    grads[{pitch} * e + lane] = value",
        f"for i in range({tile.columns // lines}):",
        f"    e = line + {lines} * i",
        "    value = fill[e]",
        *indented(windows.look("value", seen, "e", dilated=False)),
        f"    seen[{pitch} * e + lane] = value",
    ]


def _multiply(tile: Tile, pitch: int, lanes: int) -> Lines:
    """Return the lines that add the products of some points to a thread's totals."""
    below, beside = tile.rows // tile.each_rows, tile.columns // tile.each_columns
    rows, columns = range(tile.each_rows), range(tile.each_columns)
    return [
        f"for j in range({tile.depth // lanes}):",
        *(
            f"    grad{i} = load{lanes}(grads, {pitch} * (down + {below * i}) + {lanes} * j)"
            for i in rows
        ),
        *(
            f"    seen{k} = load{lanes}(seen, {pitch} * (right + {beside * k}) + {lanes} * j)"
            for k in columns
        ),
        f"    for e in range({lanes}):",
        *(f"        totals[{i}, {k}] += grad{i}[e] * seen{k}[e]" for i in rows for k in columns),
    ]


def _store(tile: Tile) -> Lines:
    """Return the lines that store a thread's totals, except beyond the edges."""
    below, beside = tile.rows // tile.each_rows, tile.columns // tile.each_columns
    return [
        "weights = n_groups * n_kernels * inner",
        "begin = target_at + cuda.blockIdx.y * (weights + n_groups * n_kernels)",
        f"for i in range({tile.each_rows}):",
        f"    row = first_row + down + {below} * i",
        f"    for k in range({tile.each_columns}):",
        f"        column = first_column + right + {beside} * k",
        "        own = group * n_kernels + row",
        "        if (row < n_kernels) & (column <= inner):",
        "            at = own * inner + column if column < inner else weights + own",
        "            target[begin + at] = totals[i, k]",
    ]


def added_parts(dtype: DType, team: Team) -> Rows:
    """Return the kernel that adds the parts of `partial_sums`, and stores both gradients.

    The first `weights` sums belong to the kernels, the others to the biases.
    """
    compute, total = computed(dtype), Operand(dtype, "row")
    operands = {"partial": Operand(compute), "weight": total, "bias": total}
    rows = Rows("added_parts", operands, team, compute, counts=("weights",))
    rows.sums(total="{partial}")
    value = store(converted("total", compute, dtype), dtype)
    rows.lines += [
        "if (row < rows) & (lane == 0):",
        "    if row < weights:",
        f"        weight[weight_at + row] = {value}",
        "    else:",
        f"        bias[bias_at + row - weights] = {value}",
    ]
    return rows
