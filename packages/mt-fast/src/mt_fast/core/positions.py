"""Functions that kernels call to compute the positions of rows, in four dimensions.

A *layout* is a tuple of the position of a view's first element, followed by its strides.
"""

from __future__ import annotations

from typing import Any

from mt_fast.core.tables import jit


@jit()
def unravel(ordinal: Any, sizes: Any) -> Any:
    """Return the index of row number `ordinal` in row-major order."""
    rest = ordinal // sizes[3]
    outer = rest // sizes[2]
    first = outer // sizes[1]
    return first, outer - first * sizes[1], rest - outer * sizes[2], ordinal - rest * sizes[3]


@jit()
def next_row(index: Any, sizes: Any) -> Any:
    """Return the index of the next row, without the divisions of `unravel`."""
    first, second, third, fourth = index
    if fourth + 1 < sizes[3]:
        return first, second, third, fourth + 1
    if third + 1 < sizes[2]:
        return first, second, third + 1, 0
    if second + 1 < sizes[1]:
        return first, second + 1, 0, 0
    return first + 1, 0, 0, 0


@jit()
def position(layout: Any, index: Any) -> Any:
    """Return the position of the first element of the row at an index."""
    outer = index[0] * layout[1] + index[1] * layout[2]
    return layout[0] + outer + index[2] * layout[3] + index[3] * layout[4]


NAMESPACE = {function.__name__: function for function in (unravel, next_row, position)}
"""These functions by name, for kernel source."""
