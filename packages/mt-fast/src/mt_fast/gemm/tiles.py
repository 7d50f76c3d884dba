"""Compute small blocks of a matrix product, whose sums stay in registers.

A product of matrices reads every element many times. A tile of `rows` x `columns` vectors
(`vectors/instructions.py`) reads `rows + columns` vectors for `rows * columns` multiplications, and
writes nothing until all sums are complete. Its second factor need not be a matrix in memory: a
table of offsets gives the start of each row, so that rows may overlap, as the windows of a
convolution do.

`product` computes a few rows of the result, at most as many as a tile has (`LARGEST`). The rows of
its second factor are called *taps*, after the places in the window of a convolution; `convolution/`
uses the same tiles.
"""

from __future__ import annotations

from typing import Any

from mt_fast.vectors.compiler import inlined
from mt_fast.vectors.instructions import Vectors, index, instruction
from mt_fast.vectors.processor import REGISTERS, VECTOR_BYTES

LARGEST, SMALLER = (8, 4) if REGISTERS == 32 else (4, 2)
"""The number of rows of a tile if there are enough rows, and if not. A tile may also have one
row."""

SUMS = 3 * REGISTERS // 4
"""The number of registers for the sums of a tile; the others hold the factors."""

WIDE, WIDER, WIDEST = SUMS // LARGEST, SUMS // SMALLER, 8
"""The widths of the three tiles of a product in vectors: the fewer rows, the wider."""


def clamped_index(v: Vectors, i: int, size: Any) -> Any:
    """Return i, or the last index if i is beyond it: its results are computed and dropped."""
    within = v.builder.icmp_signed("<", index(i), size)
    return v.builder.select(within, index(i), v.builder.sub(size, index(1)))


def _product_tile(rows: int, columns: int) -> Any:
    """Return a function for kernels: `out[i, j] = bias[i] + sum_t weights[i, t] * source[t, j]`.

    The arguments of the function:

    - out, at, step: an array, the start of the tile in it, and the distance between its rows;
    - used: the number of rows, at most `rows`;
    - count: the number of elements of a row to write; all of them, unless `columns` is 1;
    - bias, begin: an array, and the position in it of the initial values of the sums;
    - weights, first, row_step, column_step: an array, the position of its first element, and the
      distance between adjacent rows and between adjacent columns;
    - source, start, offsets, tap, taps: row t of the source starts at `start + offsets[tap + t]`,
      and there are `taps` rows. They are as long as the tile is wide, whatever `count` is.
    """

    @instruction
    def tile(
        v: Vectors, out: Any, at: Any, step: Any, used: Any, count: Any, bias: Any, begin: Any,
        weights: Any, first: Any, row_step: Any, column_step: Any, source: Any, start: Any,
        offsets: Any, tap: Any, taps: Any,
    ) -> None:  # fmt: skip
        b = v.builder
        bias, source, offsets = b.gep(bias, [begin]), b.gep(source, [start]), b.gep(offsets, [tap])
        row_indices = [clamped_index(v, i, used) for i in range(rows)]
        lines = [
            b.gep(weights, [b.add(first, b.mul(row_index, row_step))]) for row_index in row_indices
        ]
        sums = []
        for row_index in row_indices:
            value = v.repeated(b.gep(bias, [row_index]))
            sums.append([v.variable(value) for _ in range(columns)])
        with v.loop(taps) as t:
            source_row = b.gep(source, [b.load(b.gep(offsets, [t]))])
            xs = [v.load(b.gep(source_row, [index(j * v.lanes)])) for j in range(columns)]
            tap_offset = v.opaque(b.mul(t, column_step))
            for line, totals in zip(lines, sums, strict=True):
                weight = v.repeated(b.gep(line, [tap_offset]))
                for total, x in zip(totals, xs, strict=True):
                    b.store(v.multiply_add(weight, x, b.load(total)), total)
        for i in range(rows):
            with b.if_then(b.icmp_signed("<", index(i), used)):
                row = b.gep(out, [b.add(at, b.mul(index(i), step))])
                if columns == 1:
                    _store_some(v, b.load(sums[i][0]), row, count)
                    continue
                for j, total in enumerate(sums[i]):
                    v.store(b.load(total), b.gep(row, [index(j * v.lanes)]))

    return tile


def _store_some(v: Vectors, vector: Any, pointer: Any, count: Any) -> None:
    """Write the first `count` elements of a vector, or all if it has fewer."""
    is_full = v.builder.icmp_signed(">=", count, index(v.lanes))
    with v.builder.if_else(is_full) as (then, otherwise):
        with then:
            v.store(vector, pointer)
        with otherwise:
            v.store(vector, pointer, count)


def _product(rows: int, columns: int) -> Any:
    """Return `product` for at most `rows` rows, with tiles of up to `columns` vectors."""
    wide, two, narrow = (_product_tile(rows, count) for count in (columns, 2, 1))

    @inlined
    def product_of_rows(
        out: Any, at: Any, step: Any, used: Any, count: Any, bias: Any, begin: Any, weights: Any,
        first: Any, steps: Any, source: Any, start: Any, offsets: Any, tap: Any, taps: Any,
    ) -> None:  # fmt: skip
        row_step, column_step = steps
        lanes = VECTOR_BYTES // source.itemsize
        done = 0
        while done + columns * lanes <= count:
            wide(
                out, at + done, step, used, lanes, bias, begin, weights, first, row_step,
                column_step, source, start + done, offsets, tap, taps,
            )  # fmt: skip
            done += columns * lanes
        if done + 2 * lanes <= count:
            two(
                out, at + done, step, used, lanes, bias, begin, weights, first, row_step,
                column_step, source, start + done, offsets, tap, taps,
            )  # fmt: skip
            done += 2 * lanes
        while done < count:
            place = max(min(done, count - lanes), 0)
            narrow(
                out, at + place, step, used, count, bias, begin, weights, first, row_step,
                column_step, source, start + place, offsets, tap, taps,
            )  # fmt: skip
            done += lanes

    return product_of_rows


_product_of_many = _product(LARGEST, WIDE)
_product_of_some = _product(SMALLER, WIDER)
_product_of_one = _product(1, WIDEST)


@inlined
def product(
    out: Any, at: Any, step: Any, rows: Any, count: Any, bias: Any, begin: Any, weights: Any,
    first: Any, steps: Any, source: Any, start: Any, offsets: Any, tap: Any, taps: Any,
) -> None:  # fmt: skip
    """Write rows of a product: `out[i, j] = bias[i] + sum_t weights[i, t] * source[t, j]`.

    Args:
        out: an array.
        at: the start of the first row in it.
        step: the distance between rows.
        rows: the number of rows, at most that of a tile.
        count: the number of elements of a row.
        bias: an array with an initial value for each row.
        begin: the position of the first one.
        weights: an array.
        first: the position of its first element.
        steps: the distance between its adjacent rows, and between its adjacent columns.
        source: an array. Its rows may be read up to the end of a vector if they are shorter.
        start: the start of its first column.
        offsets: the starts of its rows from there.
        tap: the position of the first row in `offsets`.
        taps: the number of rows.
    """
    vectors = count // (VECTOR_BYTES // source.itemsize)
    if rows > SMALLER or vectors < WIDER:  # the wider tiles do not fit
        _product_of_many(
            out, at, step, rows, count, bias, begin, weights, first, steps, source, start, offsets,
            tap, taps,
        )  # fmt: skip
    elif rows > 1 or vectors < WIDEST:
        _product_of_some(
            out, at, step, rows, count, bias, begin, weights, first, steps, source, start, offsets,
            tap, taps,
        )  # fmt: skip
    else:
        _product_of_one(
            out, at, step, rows, count, bias, begin, weights, first, steps, source, start, offsets,
            tap, taps,
        )  # fmt: skip
