"""Where elements lie: what the loops of kernels call to find their rows, tiles and elements.

The first of what the names in kernel text stand for, compiled functions on shapes and strides. A
*layout* is the position of a view's first element, followed by its strides; an index counts along
the dimensions of a loop, whose *extents* say how long they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.loop_source import TILE_COLUMNS, TILE_ROWS
from mt_fast.vectors.compiler import jit


@jit()
def unravel(ordinal: Any, extents: Any) -> Any:
    """Return the index of the `ordinal`-th element, row by row, in three dimensions."""
    rest = ordinal // extents[2]
    first = rest // extents[1]
    return first, rest - first * extents[1], ordinal - rest * extents[2]


@jit()
def position(layout: Any, index: Any) -> Any:
    """Return the position of an element; a layout is a start followed by strides."""
    return layout[0] + index[0] * layout[1] + index[1] * layout[2] + index[2] * layout[3]


@jit()
def first_row(ordinal: Any, extents: Any) -> Any:
    """Return the index of the `ordinal`-th row in the five dimensions around rows."""
    first, second, rest = unravel(
        ordinal, (extents[0], extents[1], extents[2] * extents[3] * extents[4])
    )
    return first, second, *unravel(rest, (extents[2], extents[3], extents[4]))


@jit()
def next_row(index: Any, extents: Any) -> Any:
    """Return the index of the row that follows; it takes no division, unlike `first_row`."""
    first, second, third, fourth, fifth = index
    fifth += 1
    if fifth < extents[4]:
        return first, second, third, fourth, fifth
    fourth += 1
    if fourth < extents[3]:
        return first, second, third, fourth, 0
    third += 1
    if third < extents[2]:
        return first, second, third, 0, 0
    second += 1
    if second < extents[1]:
        return first, second, 0, 0, 0
    return first + 1, 0, 0, 0, 0


@jit()
def row_at(layout: Any, index: Any) -> Any:
    """Return the position of a row's first element; a layout is a start followed by strides."""
    return position(layout, index[:3]) + index[3] * layout[4] + index[4] * layout[5]


@jit()
def unsigned(number: Any) -> Any:
    """Return a position, or a step between positions, that is known not to count from the end."""
    return np.uint64(number)


@jit()
def tile(ordinal: Any, extents: Any) -> Any:
    """Return where the `ordinal`-th tile of the last two of four dimensions is, and how large.

    Tiles follow each other row by row, so that threads that share them do not write side by side.

    Returns:
        The index of its first row in three dimensions, its first column, and how many rows and
        columns it has.
    """
    rows, columns = extents[2], extents[3]
    down = (rows + TILE_ROWS - 1) // TILE_ROWS
    across = (columns + TILE_COLUMNS - 1) // TILE_COLUMNS
    strip = ordinal // across
    column = (ordinal - strip * across) * TILE_COLUMNS
    first, second, third = unravel(strip, (extents[0], extents[1], down))
    row = third * TILE_ROWS
    index = first, second, row
    return index, column, min(TILE_ROWS, rows - row), min(TILE_COLUMNS, columns - column)
