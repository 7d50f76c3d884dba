"""The form `transposed` of loops: rows of some views are columns in memory.

Such views are transposed tile by tile, into scratch memory whose rows the loop reads; a copy is
transposed directly to its destination. A loop of this form has up to five dimensions, of which the
last two are cut into tiles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mt_fast.core.loops import Loop, LoopLayout, Piece, nests
from mt_fast.core.lowering import NAMESPACE
from mt_fast.core.positions import unravel
from mt_fast.core.source import FORMS, View, cut, indented
from mt_fast.core.tables import SPECIAL_CASES, jit
from mt_fast.transposition.registers import TILE_COLUMNS, TILE_ROWS, scratch, transpose_tile
from mt_tensor.backends.extending import Layout
from mt_tensor.extending import Strides

LONG = 128
"""The least number of bytes of a row that a kernel transposes: over shorter rows, a loop would
spend most of its time starting and ending."""

MOST_TRANSPOSED = 4
"""The most views that a kernel transposes, in scratch memory on the stack of a thread."""

# --- Source -------------------------------------------------------------------------------------


@jit()
def tile(ordinal: Any, sizes: Any) -> Any:
    """Return the position and size of the `ordinal`-th tile of the last two of five dimensions.

    Tiles are numbered row by row, so that threads do not write to adjacent memory.

    Returns:
        The index of its first row in four dimensions, its first column, and the numbers of rows and
        columns.
    """
    rows, columns = sizes[3], sizes[4]
    down = (rows + TILE_ROWS - 1) // TILE_ROWS
    across = (columns + TILE_COLUMNS - 1) // TILE_COLUMNS
    strip = ordinal // across
    column = (ordinal - strip * across) * TILE_COLUMNS
    first, second, third, fourth = unravel(strip, (sizes[0], sizes[1], sizes[2], down))
    row = fourth * TILE_ROWS
    index = first, second, third, row
    return index, column, min(TILE_ROWS, rows - row), min(TILE_COLUMNS, columns - column)


def _tiles(views: Sequence[View], body: list[str]) -> list[str]:
    """Return the loops over tiles, over their rows and over the elements of a row."""
    lines = [
        f"{view.name}_scratch = scratch({view.name}_data)"
        for view in views
        if view.role == "column"
    ]
    lines += [
        "for unit in range(lo, hi):",
        "    index, start, height, n = tile(unit, sizes)",
    ]
    rows = []
    for view in views:
        v = view.name
        first, step = f"{v}_first", f"{v}_layout[5]"
        lines.append(f"    {first} = position({v}_layout, index) + start * {step}")
        if view.role == "column":
            target = f"{v}_scratch, 0, {TILE_COLUMNS}"
            lines.append(f"    transpose_tile({v}_data, {first}, {step}, {target}, height, n)")
            rows += cut(view, f"row * {TILE_COLUMNS}", "0", "n", "scratch")
        else:
            rows.append(f"{v}_start = {first} + row * {v}_layout[4]")
            rows += cut(view, f"{v}_start", "0", "n")
    lines += ["    for row in range(height):", *indented(rows, 2)]
    return [*lines, *indented(["for i in range(n):", *indented(body)], 2)]


# --- Layouts ------------------------------------------------------------------------------------


def with_columns(
    layout: LoopLayout, roles: tuple[str, ...], views: Sequence[Layout], inputs: int
) -> Loop | None:
    """Return a loop that transposes columns of some inputs to rows; None if there are none.

    These columns are along the same dimension in all of them.
    """
    if layout.sizes[-1] < LONG // max([view.dtype.itemsize for view in views]):
        return None
    columns = [column_of(strides) for strides in layout.strides[:inputs]]
    column = next((d for d in columns if d is not None), None)
    if column is None:
        return None
    turned = [i for i, d in enumerate(columns) if d == column][:MOST_TRANSPOSED]
    roles = tuple(["column" if i in turned else role for i, role in enumerate(roles)])
    form = "strided" if "apart" in roles else "transposed"
    return Loop(layout, form, roles, tiles_of(layout, column) if form != "strided" else ())


def column_of(strides: Strides) -> int | None:
    """Return the dimension with stride 1, if it is not the innermost."""
    return strides.index(1) if 1 in strides and strides[-1] not in (0, 1) else None


def tiles_of(layout: LoopLayout, column: int) -> Sequence[Piece]:
    """Return the calls of a kernel that runs over tiles."""
    return [
        (_tile_count(sizes), (sizes,), places) for sizes, places in nests(_in_tiles(layout, column))
    ]


def _in_tiles(layout: LoopLayout, column: int) -> LoopLayout:
    """Return a layout whose last but one dimension is that of the columns."""
    last = len(layout.sizes) - 1
    order = (*(d for d in range(last) if d != column), column, last)
    sizes, *strides = (tuple([of[d] for d in order]) for of in (layout.sizes, *layout.strides))
    return LoopLayout(sizes, tuple(strides), layout.starts)


def _tile_count(sizes: tuple[int, ...]) -> int:
    """Return the number of tiles of a loop."""
    *outer, rows, columns = sizes
    return math.prod(outer) * -(-rows // TILE_ROWS) * -(-columns // TILE_COLUMNS)


FORMS["transposed"] = _tiles
NAMESPACE.update(tile=tile, scratch=scratch, transpose_tile=transpose_tile)
SPECIAL_CASES["loop"] = with_columns
