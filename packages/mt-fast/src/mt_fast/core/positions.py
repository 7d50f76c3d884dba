"""Functions that kernels call to find their rows and elements.

A *layout* is a tuple of the position of a view's first element, followed by its strides. An index
counts along the dimensions of a loop, of the given sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.tables import jit


@jit()
def unravel(ordinal: Any, sizes: Any) -> Any:
    """Return the index of the `ordinal`-th element in three dimensions, in row-major order."""
    rest = ordinal // sizes[2]
    first = rest // sizes[1]
    return first, rest - first * sizes[1], ordinal - rest * sizes[2]


@jit()
def position(layout: Any, index: Any) -> Any:
    """Return the position of an element in three dimensions."""
    return layout[0] + index[0] * layout[1] + index[1] * layout[2] + index[2] * layout[3]


@jit()
def first_row(ordinal: Any, sizes: Any) -> Any:
    """Return the index of the `ordinal`-th row in the five dimensions around rows."""
    first, second, rest = unravel(ordinal, (sizes[0], sizes[1], sizes[2] * sizes[3] * sizes[4]))
    return first, second, *unravel(rest, (sizes[2], sizes[3], sizes[4]))


@jit()
def next_row(index: Any, sizes: Any) -> Any:
    """Return the index of the following row; unlike `first_row`, without a division."""
    first, second, third, fourth, fifth = index
    if fifth + 1 < sizes[4]:
        return first, second, third, fourth, fifth + 1
    if fourth + 1 < sizes[3]:
        return first, second, third, fourth + 1, 0
    if third + 1 < sizes[2]:
        return first, second, third + 1, 0, 0
    if second + 1 < sizes[1]:
        return first, second + 1, 0, 0, 0
    return first + 1, 0, 0, 0, 0


@jit()
def row_at(layout: Any, index: Any) -> Any:
    """Return the position of the first element of a row."""
    return position(layout, index[:3]) + index[3] * layout[4] + index[4] * layout[5]


@jit()
def unsigned(number: Any) -> Any:
    """Return a position, or a step between positions, as an unsigned integer."""
    return np.uint64(number)


NAMESPACE = {
    function.__name__: function
    for function in (unravel, position, first_row, next_row, row_at, unsigned)
}
"""These functions by the names that kernel text calls."""
