"""Cut a matrix into panels of columns, for many products with it, each of a few rows.

All steps of a recurrent network multiply by the same matrix, one after the other. A panel is as
wide as a tile, and its rows are consecutive in memory, so that a tile reads one vector after the
other. Copying a matrix to panels takes as long as multiplying a few rows by it.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mt_fast.core.kernel import Kernel
from mt_fast.gemm.tiles import LARGEST, WIDE, product
from mt_fast.memory.aligned import LINE
from mt_fast.transposition.registers import transpose_tile
from mt_fast.vectors.compiler import inner
from mt_fast.vectors.instructions import copy
from mt_fast.vectors.processor import VECTOR_BYTES
from mt_tensor.extending import Array


class Panels(NamedTuple):
    """A matrix of shape (taps, columns), cut into panels.

    Attributes:
        elements: the elements, shape (panels, taps, width), with zeros after the last column.
        offsets: the starts of the rows of a panel.
        zeros: the initial values of sums.
        columns: the number of columns of a product: those of the matrix, rounded up to whole
            vectors.
    """

    elements: Array
    offsets: npt.NDArray[np.int64]
    zeros: Array
    columns: int


def panels_of(matrix: Array, transposed: bool, parallel: bool) -> Panels:
    """Return the panels of a matrix.

    Args:
        matrix: C-contiguous, shape (taps, columns).
        transposed: whether to transpose it first.
        parallel: whether to use all threads.
    """
    taps, columns = matrix.shape[::-1] if transposed else matrix.shape
    lanes = VECTOR_BYTES // matrix.itemsize
    width = WIDE * lanes
    count = -(-columns // width)
    memory = np.zeros(count * taps * width + LINE // matrix.itemsize, matrix.dtype)
    first = -memory.ctypes.data % LINE // matrix.itemsize  # no vector straddles two cache lines
    elements = memory[first : first + count * taps * width].reshape(count, taps, width)
    _CUT.run(count, parallel, matrix, transposed, columns, elements)
    offsets, zeros = _fixed(taps, width, matrix.dtype)
    return Panels(elements, offsets, zeros, -(-columns // lanes) * lanes)


@functools.lru_cache(64)
def _fixed(taps: int, width: int, kind: Any) -> tuple[npt.NDArray[np.int64], Array]:
    """Return the offsets of rows, and as many zeros as a tile has rows."""
    return np.arange(taps, dtype=np.int64) * width, np.zeros(LARGEST, kind)


def _cut(lo: Any, hi: Any, matrix: Any, transposed: Any, columns: Any, elements: Any) -> None:
    """Fill the panels from `lo` to `hi`; see `panels_of`."""
    _, taps, width = elements.shape
    flat, target = matrix.reshape(-1), elements.reshape(-1)
    for panel in range(lo, hi):
        column, start = panel * width, panel * taps * width
        count = min(width, columns - column)
        if transposed:
            transpose_tile(flat, column * taps, taps, target, start, width, taps, count)
        else:
            for tap in range(taps):
                copy(target, start + tap * width, flat, tap * columns + column, count)


@inner
def multiply(out: Any, first: Any, end: Any, rows: Any, panels: Any) -> None:
    """Write the products of rows with a matrix.

    Args:
        out: the products, shape (all rows, panels.columns).
        first: the first row.
        end: the row after the last.
        rows: the rows to multiply, shape (all rows, taps).
        panels: the matrix.
    """
    count, taps, width = panels.elements.shape
    columns = panels.columns
    for panel in range(count):
        column = panel * width
        panel_columns = min(width, columns - column)
        for row in range(first, end, LARGEST):
            product(
                out, row * columns + column, columns, min(LARGEST, end - row), panel_columns,
                panels.zeros, 0, rows, row * taps, (taps, 1), panels.elements,
                panel * taps * width, panels.offsets, 0, taps,
            )  # fmt: skip


_CUT = Kernel.of(_cut)
