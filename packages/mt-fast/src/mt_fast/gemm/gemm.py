"""Multiply matrices tile by tile, on Numba's own threads.

Tiles compute a product of matrices of any size. A tile of results (`tiles.py`) reads a few rows of
the first factor and a few columns of the second. Rows are read in place. If the first factor is
transposed, its rows are columns in memory, and the rows of a few tiles are packed, that is copied
next to each other. *Panels* of columns of the second factor are copied to the cache, one after the
other, and stay there while all rows of the first are multiplied by them. A panel consists of
*strips* as wide as a tile, so that a tile reads consecutive cache lines; if the second factor is
transposed, each strip is transposed. A small second factor with few rows in the first is read in
place. An inner dimension that is too long for the caches is split into blocks of equal *length*,
whose products are added. The order of additions for an element is fixed, so that the result does
not depend on the number of threads.

BLAS has threads of its own. After a product they spin for a while, and the next loop on Numba's
threads competes with them for the processor; the kernel here runs on the same threads as all loops.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from mt_fast.core.kernel import Kernel
from mt_fast.core.products import LARGE
from mt_fast.core.tables import empty, thread_count
from mt_fast.gemm.scratch import scratch
from mt_fast.gemm.tiles import LARGEST, WIDE, product
from mt_fast.transposition.registers import transpose_tile
from mt_fast.vectors.compiler import inner
from mt_fast.vectors.instructions import copy
from mt_fast.vectors.processor import VECTOR_BYTES
from mt_tensor.extending import Array

IN_PLACE_BYTES = 2**20
"""The largest size of a second factor that is read in place: it stays in the L2 cache."""

REUSED = 128
"""The number of rows of the first factor from which even such a second factor is copied to panels.
There no vector straddles two cache lines, and the lines are spread evenly over the cache sets."""

PANEL_BYTES = 2**18
"""The largest size of a panel of a larger second factor: half of the L2 cache, or less."""

PACKED = max(LARGEST, VECTOR_BYTES // 4)
"""The number of rows of a transposed first factor to pack at once: whole vectors of float32."""

STRIP_BYTES = WIDE * VECTOR_BYTES
"""The width of a strip of a panel."""

PARALLEL_FROM = 2**21
"""The number of multiplications from which all threads are used: starting them costs about as
much."""

LONGEST = 2**12
"""The longest block of the inner dimension: a panel of such columns fits in the L2 cache."""

LONGEST_DOWN = 2**8
"""The same for a transposed first factor: down its columns each element is on a cache line and a
page of its own, of which the L1 cache and the TLB hold few."""

UNEVEN = 16
"""If the panels have over 1 / `UNEVEN` more columns than the matrix, the last panel is much less
work than the others: then threads share the rows of each panel, and not the panels."""

NARROW = 16
"""The minimum size of each dimension: with fewer rows, a product waits for memory, and tiles do not
help."""


def pays(batch: int, n: int, m: int, k: int) -> bool:
    """Return whether tiles compute products of matrices (n, m) and (m, k) faster than BLAS."""
    return batch * n * m * k >= LARGE and min(n, m, k) >= NARROW


def packs_again(m: int, k: int, itemsize: int) -> bool:
    """Return whether a second factor (m, k) needs several panels if the first is transposed."""
    return min(m, LONGEST_DOWN) * k * itemsize > PANEL_BYTES


def multiply(a: Array, b: Array) -> Array:
    """Return the products of matrices in the last two dimensions as a new contiguous array.

    Args:
        a: shape (*batch, n, m). Rows or columns are contiguous, and no stride is negative.
        b: shape (*batch, m, k), with the same conditions and the same dtype, float32 or float64.
    """
    plan = _plan(a.shape, a.strides, b.shape, b.strides, a.itemsize, thread_count())
    out = empty(plan.shape, a.dtype)
    _MULTIPLY.run(
        plan.units, plan.parallel, _flat(a), plan.starts_a, _flat(b), plan.starts_b, plan.offsets,
        out.reshape(-1), plan.sizes, plan.steps,
    )  # fmt: skip
    return out


def _flat(x: Array) -> Array:
    """Return the memory from the first to the last element of an array as one row."""
    if x.flags.forc:
        return x.ravel("K")
    last = sum((size - 1) * stride for size, stride in zip(x.shape, x.strides, strict=True))
    return as_strided(x, (last // x.itemsize + 1,), (x.itemsize,))


@functools.lru_cache(256)
def starts(shape: tuple[int, ...], strides: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the position of the first element of each matrix of a batch."""
    starts = np.zeros(1, np.int64)
    for size, stride in zip(shape, strides, strict=True):
        starts = np.add.outer(starts, np.arange(size) * stride).reshape(-1)
    return starts


class Plan(NamedTuple):
    """How to compute products of matrices of one layout.

    Attributes:
        shape: the shape of the products.
        units: the number of units of work.
        parallel: whether threads share them.
        starts_a: the start of each matrix of the first factor.
        starts_b: the start of each matrix of the second factor.
        offsets: the starts of the rows of a panel.
        sizes: n, m, k; the length of blocks of the inner dimension; the width of panels and of
            their strips; the number of panels, and of parts that rows are split into, so that each
            thread has the same number of units; and whether the second factor is read in place, as
            one strip.
        steps: the distance between adjacent rows and adjacent columns, for both factors.
    """

    shape: tuple[int, ...]
    units: int
    parallel: bool
    starts_a: npt.NDArray[np.int64]
    starts_b: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]


@functools.lru_cache(512)
def _plan(
    shape_a: tuple[int, ...],
    strides_a: tuple[int, ...],
    shape_b: tuple[int, ...],
    strides_b: tuple[int, ...],
    itemsize: int,
    threads: int,
) -> Plan:
    """Return the plan for factors of these shapes and strides; strides are in bytes."""
    (n, m), k = shape_a[-2:], shape_b[-1]
    batch = math.prod(shape_a[:-2])
    parallel = batch * n * m * k >= PARALLEL_FROM
    threads = threads if parallel else 1
    *outer_a, a_row_step, a_column_step = [stride // itemsize for stride in strides_a]
    *outer_b, b_row_step, b_column_step = [stride // itemsize for stride in strides_b]
    max_length = LONGEST if a_column_step == 1 else LONGEST_DOWN
    length = -(-m // -(-m // max_length))
    rows = n if batch >= threads else -(-n // threads)  # that a thread multiplies by a panel
    in_place = b_column_step == 1 and k >= VECTOR_BYTES // itemsize and rows < REUSED
    if in_place and length * k * itemsize <= IN_PLACE_BYTES:
        width, strip = k, k
    else:
        width, strip = _widths(length, k, itemsize)
        in_place = b_column_step == 1 and strip == k
    panels = -(-k // width)
    equal_units = batch if (panels * width - k) * UNEVEN > k else batch * panels
    parts = min(-(-n // LARGEST), threads // math.gcd(threads, equal_units))
    return Plan(
        (*shape_a[:-1], k),
        batch * panels * parts,
        parallel,
        starts(shape_a[:-2], tuple(outer_a)),
        starts(shape_b[:-2], tuple(outer_b)),
        np.arange(length) * (b_row_step if in_place else strip),
        (n, m, k, length, width, strip, panels, parts, in_place),
        (a_row_step, a_column_step, b_row_step, b_column_step),
    )


def _widths(length: int, k: int, itemsize: int) -> tuple[int, int]:
    """Return the number of columns of a panel, and of a strip of it.

    One panel takes all columns if they fit. Several panels are equally wide and consist of whole
    strips: a tile that is narrower than the others does less work for each element that it reads.
    """
    strip, lanes = STRIP_BYTES // itemsize, VECTOR_BYTES // itemsize
    max_columns = PANEL_BYTES // (length * itemsize)
    if k <= max_columns:
        return -(-k // lanes) * lanes, strip
    panels = -(-k // (max(max_columns // strip, 1) * strip))
    return -(-k // (panels * strip)) * strip, strip


@inner
def fill(panel: Any, b: Any, start: Any, steps: Any, taps: Any, count: Any, strip: Any) -> None:
    """Copy `count` columns of `taps` rows of `b`, starting at `start`, strip by strip.

    The steps are the distance between adjacent rows and between adjacent columns, one of which is
    1.
    """
    row_step, column_step = steps
    for done in range(0, count, strip):
        strip_columns = min(strip, count - done)
        if column_step == 1:
            for i in range(taps):
                copy(panel, done * taps + i * strip, b, start + i * row_step + done, strip_columns)
        else:
            first = start + done * column_step
            transpose_tile(b, first, column_step, panel, done * taps, strip, taps, strip_columns)


@inner
def add_rows(out: Any, at: Any, step: Any, sums: Any, width: Any, rows: Any, count: Any) -> None:
    """Add rows of `sums`, which are `width` apart, to rows of `out`, which are `step` apart."""
    for i in range(rows):
        row, addend = out[at + i * step :], sums[i * width :]
        for j in range(count):
            row[j] += addend[j]


def _multiply(
    lo: Any, hi: Any, a: Any, starts_a: Any, b: Any, starts_b: Any, offsets: Any, out: Any,
    sizes: Any, steps: Any,
) -> None:  # fmt: skip
    """Multiply; a unit is a part of the rows of one panel.

    Args:
        lo: the first unit.
        hi: the unit after the last.
        a: the first factor, flat.
        starts_a: the starts of its matrices.
        b: the second factor, flat.
        starts_b: the starts of its matrices.
        offsets: the starts of the rows of a panel.
        out: the products, flat.
        sizes: see `Plan`.
        steps: see `Plan`.
    """
    n, m, k, length, width, strip, panels, parts, in_place = sizes
    row_step, column_step = steps[:2]
    packed = column_step != 1
    block_rows = PACKED if packed else LARGEST
    packed_start = 0 if in_place else length * ((width + strip - 1) // strip * strip)
    memory = scratch(packed_start + length * block_rows, b)
    sums = scratch(LARGEST * strip, b)
    panel, weights = (b if in_place else memory), (memory if packed else a)
    weight_steps = (1, PACKED) if packed else steps[:2]
    zeros = np.zeros(LARGEST, b.dtype)
    blocks = (n + block_rows - 1) // block_rows
    panel_count = len(starts_b) * panels
    filled = -1
    for unit in range(lo, hi):
        part, panel_index = unit // panel_count, unit % panel_count
        batch, column = panel_index // panels, panel_index % panels * width
        count = min(width, k - column)
        for begin in range(0, m, length):
            taps = min(length, m - begin)
            start = starts_b[batch] + begin * steps[2] + column * steps[3]
            if not in_place and start != filled:
                fill(panel, b, start, steps[2:], taps, count, strip)
                filled = start
            for block in range(blocks * part // parts, blocks * (part + 1) // parts):
                top = block * block_rows
                end = min(top + block_rows, n)
                offset = starts_a[batch] + top * row_step + begin * column_step
                if packed:
                    for i in range(taps):
                        copy(
                            memory,
                            packed_start + i * PACKED,
                            a,
                            offset + i * column_step,
                            end - top,
                        )
                    offset = packed_start
                for first in range(top, end, LARGEST):
                    rows = min(LARGEST, end - first)
                    for done in range(0, count, strip):
                        strip_columns = min(strip, count - done)
                        at = (batch * n + first) * k + column + done
                        target, to, step = (sums, 0, strip) if begin else (out, at, k)
                        product(
                            target, to, step, rows, strip_columns, zeros, 0, weights,
                            offset + (first - top) * weight_steps[0], weight_steps, panel,
                            (start if in_place else 0) + done * taps, offsets, 0, taps,
                        )  # fmt: skip
                        if begin:
                            add_rows(out, at, k, sums, strip, rows, strip_columns)


_MULTIPLY = Kernel.of(_multiply, allocates=True)
