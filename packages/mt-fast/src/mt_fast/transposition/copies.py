"""Copies by kernels: on all threads, with conversions, and of columns to rows in registers."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from mt_fast.core import loops
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.loops import CACHE_SIZE, Loop, LoopLayout, Piece, loop_over, nested, nests
from mt_fast.core.lowering import NAMESPACE
from mt_fast.core.movement import unsigned
from mt_fast.core.positions import unravel
from mt_fast.core.rendering import converted
from mt_fast.core.source import Element, View, function, loop
from mt_fast.core.tables import SPECIAL_CASES, empty, jit
from mt_fast.transposition.registers import TILE_COLUMNS, TILE_ROWS, transpose_tile
from mt_tensor import DType, TensorData, uint8
from mt_tensor.backends.extending import MAX_DIMENSIONS, Layout
from mt_tensor.extending import Strides

SHORT = 8
"""Rows with fewer elements than this are copied with dimensions exchanged; matrices with fewer rows
or columns are not transposed in registers."""


# --- Kernels ------------------------------------------------------------------------------------


@functools.lru_cache(None)
def copy_kernel(source: DType, target: DType, form: str, role: str) -> Kernel:
    """Return the kernel that copies and converts elements."""

    def body(element: Element) -> list[str]:
        return [f"{element('out')} = {converted(element('x'), source, target)}"]

    name = f"copy_{source.name}_to_{target.name}_{form}" if source is not target else f"copy_{form}"
    return compiled(loop(form, name, [View("x", role), View("out")], body))


@jit()
def tile(ordinal: Any, sizes: Any) -> Any:
    """Return the position and size of the `ordinal`-th tile of the last two of five dimensions.

    Tiles are numbered row by row, so that threads do not write to adjacent memory.

    Returns:
        The index of its first row in four dimensions, its first column, and the numbers of rows and
        columns.
    """
    rows, columns = sizes[3], sizes[4]
    row_tiles = (rows + TILE_ROWS - 1) // TILE_ROWS
    column_tiles = (columns + TILE_COLUMNS - 1) // TILE_COLUMNS
    strip = ordinal // column_tiles
    column = (ordinal - strip * column_tiles) * TILE_COLUMNS
    first, second, third, fourth = unravel(strip, (sizes[0], sizes[1], sizes[2], row_tiles))
    row = fourth * TILE_ROWS
    index = first, second, third, row
    return index, column, min(TILE_ROWS, rows - row), min(TILE_COLUMNS, columns - column)


@functools.cache
def transpose_kernel() -> Kernel:
    """Return the kernel that copies columns to rows.

    The columns are in the last two of five dimensions; a unit is a tile.
    """
    body = [
        "for unit in range(lo, hi):",
        "    index, start, height, n = tile(unit, sizes)",
        "    column_stride, row_stride = x_layout[5], out_layout[4]",
        "    x_first = position(x_layout, index) + start * column_stride",
        "    out_first = position(out_layout, index) + start",
        "    transpose_tile("
        "x_data, x_first, column_stride, out_data, out_first, row_stride, height, n)",
    ]
    arguments = ("sizes", "x_data", "x_layout", "out_data", "out_layout")
    return compiled(function("transpose", arguments, body))


# --- Copies -------------------------------------------------------------------------------------


def copy(source: TensorData, out: TensorData, parallel: bool) -> bool:
    """Copy and convert; return False if NumPy is as fast, or for conversions of 16-bit floats."""
    same = source.dtype is out.dtype
    if not same and (source.dtype.is_narrow or out.dtype.is_narrow):
        return False
    if out.size >= loops.KERNEL_FROM and _copy_columns(source, out, parallel):
        return True
    if same and not parallel and out.ndim <= MAX_DIMENSIONS:
        return False
    storages, dtypes = (source.storage, out.storage), (source.dtype, out.dtype)
    if same:
        storages, dtypes = (unsigned(source.storage), unsigned(out.storage)), (uint8, uint8)
    views = (source.layout, out.layout)
    copy_loop = loop_over(views, 1, parallel)
    if copy_loop.form not in ("flat", "rows"):
        copy_loop = _strided(views, parallel)
    role = "row" if copy_loop.form == "strided" else copy_loop.roles[0]
    copy_loop.run(copy_kernel(*dtypes, copy_loop.form, role), storages, parallel)
    return True


@functools.lru_cache(CACHE_SIZE)
def _strided(views: tuple[Layout, ...], parallel: bool) -> Loop:
    """Return a strided loop, whose last two dimensions are exchanged if the last one is short."""
    copy_loop = loop_over(views, 1, parallel, strided=True)
    layout = copy_loop.layout
    if len(layout.sizes) < 2 or layout.sizes[-1] >= min(SHORT, layout.sizes[-2]):
        return copy_loop
    sizes, *strides = ((*of[:-2], *of[:-3:-1]) for of in (layout.sizes, *layout.strides))
    exchanged = LoopLayout(sizes, tuple(strides), layout.starts)
    return Loop(exchanged, copy_loop.form, copy_loop.roles, nested(exchanged, parallel))


def _copy_columns(source: TensorData, out: TensorData, parallel: bool) -> bool:
    """Copy columns to rows; return False for other layouts."""
    copy_loop = loop_over((source.layout, out.layout), 1, parallel)
    layout = copy_loop.layout
    column = column_of(layout.strides[0]) if layout.sizes else None
    if column is None or copy_loop.roles[1] != "row":
        return False
    if min(layout.sizes[-1], layout.sizes[column]) < SHORT:
        return False
    if source.dtype is out.dtype:
        transposed = Loop(layout, "transposed", ("column", "row"), tiles_of(layout, column))
        storages = [unsigned(view.storage) for view in (source, out)]
        transposed.run(transpose_kernel(), storages, parallel)
    else:
        storage = empty(source.size, source.dtype.numpy)
        rows = TensorData(storage, source.shape, dtype=source.dtype)
        _copy_columns(source, rows, parallel)
        copy(rows, out, parallel)
    return True


def column_of(strides: Strides) -> int | None:
    """Return the dimension with stride 1, if it is not the innermost."""
    return strides.index(1) if 1 in strides and strides[-1] not in (0, 1) else None


def tiles_of(layout: LoopLayout, column: int) -> Sequence[Piece]:
    """Return the calls of a kernel that runs over tiles."""
    return [
        (_tile_count(sizes), (sizes,), starts) for sizes, starts in nests(_in_tiles(layout, column))
    ]


def _in_tiles(layout: LoopLayout, column: int) -> LoopLayout:
    """Return a layout whose second-to-last dimension is that of the columns."""
    last = len(layout.sizes) - 1
    order = (*(d for d in range(last) if d != column), column, last)
    sizes, *strides = (tuple([of[d] for d in order]) for of in (layout.sizes, *layout.strides))
    return LoopLayout(sizes, tuple(strides), layout.starts)


def _tile_count(sizes: tuple[int, ...]) -> int:
    """Return the number of tiles of a loop."""
    *outer, rows, columns = sizes
    return math.prod(outer) * -(-rows // TILE_ROWS) * -(-columns // TILE_COLUMNS)


NAMESPACE.update(tile=tile, transpose_tile=transpose_tile)
SPECIAL_CASES["copy"] = copy
