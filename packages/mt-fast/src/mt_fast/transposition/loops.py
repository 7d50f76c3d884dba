"""The form `transposed` of loops: rows of some views are columns in memory.

Such views are transposed tile by tile, into scratch memory whose rows the loop reads; a copy is
transposed straight to its destination. A loop of this form has up to four dimensions, of which the
last two are cut into tiles.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_fast.core import loops, movement
from mt_fast.core.kernel import Kernel, compiled
from mt_fast.core.layouts import REMEMBERED, LoopLayout, collapse
from mt_fast.core.loop_source import FORMS, OUTER, Form, View, cut
from mt_fast.core.loops import SHORT, TRANSPOSED, Loop, Piece, leanest, nests, run_loop, with_gaps
from mt_fast.core.lowering import NAMESPACE
from mt_fast.core.positions import unravel
from mt_fast.core.source import Source, function, indented
from mt_fast.core.tables import SPECIAL_CASES, empty, jit
from mt_fast.transposition.registers import TILE_COLUMNS, TILE_ROWS, scratch, transpose_tile
from mt_tensor import TensorData
from mt_tensor.extending import Strides

MOST_TRANSPOSED = 4
"""The most views that a kernel transposes, in scratch memory on the stack of a thread."""

# --- Text ---------------------------------------------------------------------------------------


@jit()
def tile(ordinal: Any, sizes: Any) -> Any:
    """Return where the `ordinal`-th tile of the last two of four dimensions is, and how large.

    Tiles follow each other row by row, so that threads that share them do not write side by side.

    Returns:
        The index of its first row in three dimensions, its first column, and how many rows and
        columns it has.
    """
    rows, columns = sizes[2], sizes[3]
    down = (rows + TILE_ROWS - 1) // TILE_ROWS
    across = (columns + TILE_COLUMNS - 1) // TILE_COLUMNS
    strip = ordinal // across
    column = (ordinal - strip * across) * TILE_COLUMNS
    first, second, third = unravel(strip, (sizes[0], sizes[1], down))
    row = third * TILE_ROWS
    index = first, second, row
    return index, column, min(TILE_ROWS, rows - row), min(TILE_COLUMNS, columns - column)


def _tiles(views: Sequence[View], body: list[str]) -> list[str]:
    """Return the loops over tiles, over their rows and over the elements of a row."""
    lines = [
        f"{view.name}_scratch = scratch({view.name}_data)" for view in views if view.transposed
    ]
    lines += [
        "for unit in range(lo, hi):",
        "    index, start, height, n = tile(unit, sizes)",
    ]
    rows = []
    for view in views:
        v = view.name
        first, step = f"{v}_first", f"{v}_layout[4]"
        lines.append(f"    {first} = position({v}_layout, index) + start * {step}")
        if view.transposed:
            target = f"{v}_scratch, 0, {TILE_COLUMNS}"
            lines.append(f"    transpose_tile({v}_data, {first}, {step}, {target}, height, n)")
            rows += cut(view, f"row * {TILE_COLUMNS}", "0", "n")
        else:
            rows.append(f"{v}_start = {first} + row * {v}_layout[3]")
            rows += cut(view, f"{v}_start", "0", "n")
    lines += ["    for row in range(height):", *indented(rows, 2)]
    return [*lines, *indented(["for i in range(n):", *indented(body)], 2)]


def transpose_source() -> Source:
    """Return the kernel that copies where elements in a row come from a column.

    In the last two of four dimensions; a unit is a tile.
    """
    body = [
        "for unit in range(lo, hi):",
        "    index, start, height, n = tile(unit, sizes)",
        "    column_stride, row_stride = x_layout[4], out_layout[3]",
        "    x_first = position(x_layout, index) + start * column_stride",
        "    out_first = position(out_layout, index) + start",
        "    transpose_tile("
        "x_data, x_first, column_stride, out_data, out_first, row_stride, height, n)",
    ]
    arguments = ("sizes", "x_data", "x_layout", "out_data", "out_layout")
    return function("transpose", arguments, body)


# --- Layouts ------------------------------------------------------------------------------------


@functools.lru_cache(REMEMBERED)
def transposed_views(layout: LoopLayout, inputs: int, shortest: int) -> tuple[bool, ...]:
    """Return which of the views have elements in a row that come from a column.

    These columns run along the same dimension in all of them. The arguments are those of `leanest`.
    """
    if layout.sizes[-1] < shortest:
        return (False,) * len(layout.strides)
    columns = [_column(strides) for strides in layout.strides[:inputs]]
    column = next((d for d in columns if d is not None), None)
    views = [i for i, d in enumerate(columns) if d is not None and d == column]
    return tuple(i in views[:MOST_TRANSPOSED] for i in range(len(layout.strides)))


def _column(strides: Strides) -> int | None:
    """Return the dimension in which neighbours lie, if it is not the innermost."""
    return strides.index(1) if 1 in strides and strides[-1] not in (0, 1) else None


def transposed_pieces(loop: Loop, starts: Sequence[int]) -> Sequence[Piece]:
    """Return the calls of a kernel that make up a loop of this form."""
    column = loop.layout.strides[loop.transposed.index(True)].index(1)
    return [
        (_tile_count(sizes), (sizes,), with_gaps(places))
        for sizes, places in nests(OUTER, _in_tiles(loop.layout, column), starts, False)
    ]


def _in_tiles(layout: LoopLayout, column: int) -> LoopLayout:
    """Return a layout with the dimension along which columns run last but one."""
    last = len(layout.sizes) - 1
    order = (*(d for d in range(last) if d != column), column, last)
    sizes, *strides = (tuple([of[d] for d in order]) for of in (layout.sizes, *layout.strides))
    return LoopLayout(sizes, tuple(strides), layout.shifts)


def _tile_count(sizes: tuple[int, ...]) -> int:
    """Return how many tiles a loop of four dimensions has."""
    return sizes[0] * sizes[1] * -(-sizes[2] // TILE_ROWS) * -(-sizes[3] // TILE_COLUMNS)


# --- Copies -------------------------------------------------------------------------------------


@functools.cache
def transpose_kernel() -> Kernel:
    """Return the kernel that copies columns to rows."""
    return compiled(transpose_source())


def copy_columns(source: TensorData, out: TensorData, parallel: bool) -> bool:
    """Copy and convert columns to rows; return False for other layouts."""
    layout = collapse(source.shape, (source.strides, out.strides))
    loop = leanest(layout, 1, layout.size < loops.WORTH_A_KERNEL)
    if loop.form != "transposed":
        return False
    row, column = layout.sizes[-1], layout.sizes[layout.strides[0].index(1)]
    if min(row, column) < SHORT:
        return False
    if source.dtype is out.dtype:
        views = movement.as_unsigned(source), movement.as_unsigned(out)
        run_loop(lambda *_: transpose_kernel(), views, loop, parallel)
    elif row < loops.shortest_row((source, out)):
        # Too short to be transposed and read in one loop.
        storage = empty(source.size, source.dtype.numpy)
        rows = TensorData(storage, source.shape, dtype=source.dtype)
        movement.copy(source, rows, parallel)
        movement.copy(rows, out, parallel)
    else:

        def find(form: Form, repeats: tuple[bool, ...], _transposed: tuple[bool, ...]) -> Kernel:
            return movement.copy_kernel(source.dtype, out.dtype, form, repeats[0])

        run_loop(find, (source, out), loop, parallel)
    return True


FORMS["transposed"] = _tiles
NAMESPACE.update(tile=tile, scratch=scratch, transpose_tile=transpose_tile)
TRANSPOSED.update(views=transposed_views, pieces=transposed_pieces)
SPECIAL_CASES["copy"] = copy_columns
