"""Large matrix products, a tile at a time on Numba's own threads.

`a @ b` is cut into panels of columns. Each panel of `b` is copied into a buffer that stays in the
second cache while all rows of `a` pass by; those have been brought into the order in which tiles
read them (`tiles.py`). Every element is added up in one go and in one order, so that the result
does not depend on the number of threads.

BLAS has threads of its own. After a product they keep spinning for a while, and the next loop on
Numba's threads has to share the processor with them; these here are the same threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_fast.compilation.kernel import Kernel
from mt_fast.compilation.threads import thread_count
from mt_fast.matrices.simd import VECTOR_BYTES
from mt_fast.matrices.tiles import COLUMNS, LARGEST, padded_rows, product, tile_rows

Array = npt.NDArray[Any]

PANEL_BYTES = 2**18
"""How large a panel should be at most: a part of the second cache."""

FROM = 2**21
"""Multiplications from which a product is made here: smaller ones are over before they begin."""

NARROW = 16
"""With fewer rows, a product waits for memory, and tiles do not help."""

PACK_IN_PARTS_FROM = 2**18
"""Elements from which all threads bring rows into order."""


def pays(n: int, m: int, k: int, itemsize: int) -> bool:
    """Whether a product of matrices (n, m) and (m, k) is made here in less time than by BLAS."""
    tile = COLUMNS[LARGEST] * VECTOR_BYTES // itemsize
    fits = m * tile * itemsize <= 4 * PANEL_BYTES
    return n * m * k >= FROM and min(n, m) >= NARROW and k >= 2 * tile and fits


def multiply(a: Array, b: Array, turned_a: bool = False, turned_b: bool = False) -> Array:
    """Return the products of matrices in the last two dimensions as a new contiguous array.

    Args:
        a: C-contiguous, shape (*batch, n, m), or (*batch, m, n) if it is turned.
        b: C-contiguous, shape (*batch, m, k), or (*batch, k, m) if it is turned; of the same dtype,
            float32 or float64.
        turned_a: whether the matrices of `a` are to be transposed.
        turned_b: whether those of `b` are.
    """
    n, m = a.shape[:-3:-1] if turned_a else a.shape[-2:]
    k = b.shape[-2] if turned_b else b.shape[-1]
    batch = math.prod(a.shape[:-2])
    out = np.empty((*a.shape[:-2], n, k), a.dtype)
    packed = np.zeros((batch, padded_rows(n) * (m + 1)), a.dtype)
    threads = thread_count()
    tiles = -(-n // LARGEST)
    left = (n * m, 1, n) if turned_a else (n * m, m, 1)
    _PACK.run(
        batch * tiles, a.size >= PACK_IN_PARTS_FROM, a.reshape(-1), packed, (n, m, tiles), left
    )
    width = _panel_width(m, k, a.itemsize)
    panels = -(-k // width)
    parts = min(tiles, max(1, -(-4 * threads // (batch * panels))) if threads > 1 else 1)
    offsets = np.arange(m, dtype=np.int64) * width
    right = (m * k, 1, m) if turned_b else (m * k, k, 1)
    extents = (n, m, k, width, panels, parts)
    units = batch * panels * parts
    _MULTIPLY.run(
        units, threads > 1, packed, b.reshape(-1), offsets, out.reshape(-1), extents, right
    )
    return out


def _panel_width(m: int, k: int, itemsize: int) -> int:
    """Return how many columns a panel has: some tiles wide, and such that all are alike."""
    tile = COLUMNS[LARGEST] * VECTOR_BYTES // itemsize
    most = max(PANEL_BYTES // (m * itemsize) // tile, 1) * tile
    panels = -(-k // most)
    return -(-k // (panels * tile)) * tile


def _pack(lo: Any, hi: Any, a: Any, packed: Any, extents: Any, steps: Any) -> None:
    """Write rows in the order in which tiles read them.

    Args:
        lo: the first tile.
        hi: the tile after the last.
        a: the matrices, flat.
        packed: shape (batch, rows * (m + 1)); for each tile it gets zeros to start with, which are
            there, and then its rows' elements, a column after the other.
        extents: n, m, and how many tiles a matrix has.
        steps: how far apart in `a` are matrices, rows and columns.
    """
    n, m, tiles = extents
    for unit in range(lo, hi):
        batch, tile = unit // tiles, unit % tiles
        first = tile * LARGEST
        rows = tile_rows(n - first)
        to = packed[batch]
        for i in range(first, min(first + LARGEST, n)):
            start = batch * steps[0] + i * steps[1]
            at = first * (m + 1) + rows + i - first
            for j in range(m):
                to[at + j * rows] = a[start + j * steps[2]]


def _multiply(
    lo: Any, hi: Any, packed: Any, b: Any, offsets: Any, out: Any, extents: Any, steps: Any
) -> None:
    """Multiply; a unit is a part of the rows of one panel.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        packed: the first factor; see `_pack`.
        b: the second, flat.
        offsets: where the rows of a panel begin.
        out: the products, flat.
        extents: n, m, k, how wide panels are, how many there are, and into how many parts rows are
            cut.
        steps: how far apart in `b` are matrices, rows and columns.
    """
    n, m, k, width, panels, parts = extents
    panel = np.zeros(m * width + VECTOR_BYTES, b.dtype)
    filled = -1
    for unit in range(lo, hi):
        which, part = unit // parts, unit % parts
        batch, number = which // panels, which % panels
        column = number * width
        count = min(width, k - column)
        if which != filled:
            start = batch * steps[0] + column * steps[2]
            if steps[2] == 1:
                for i in range(m):
                    row = b[start + i * steps[1] : start + i * steps[1] + count]
                    panel[i * width : i * width + count] = row
            else:
                for j in range(count):
                    line = b[start + j * steps[2] : start + j * steps[2] + m]
                    for i in range(m):
                        panel[i * width + j] = line[i]
            filled = which
        tiles = (n + LARGEST - 1) // LARGEST
        for tile in range(tiles * part // parts, tiles * (part + 1) // parts):
            first = tile * LARGEST
            used = min(LARGEST, n - first)
            at = (batch * n + first) * k + column
            place = first * (m + 1)
            product(out, at, k, used, count, packed[batch], place, panel, offsets)


_PACK, _MULTIPLY = Kernel.of(_pack), Kernel.of(_multiply)
