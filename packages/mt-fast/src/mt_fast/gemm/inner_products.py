"""Tiles of inner products: a matrix by the transpose of another, summed over images.

The gradient of the kernels of a convolution multiplies the windows by the gradients of the outputs,
position by position: the sums run along the rows of both factors, and continue from image to image.
A *tap* is a position in the window, here a column of the result. At its end a tile adds up the
elements of its vectors.
"""

from __future__ import annotations

import itertools
from typing import Any

from mt_fast.gemm.tiles import LARGEST, SMALLER, clamped_index
from mt_fast.vectors.compiler import inlined
from mt_fast.vectors.instructions import Vectors, index, instruction

INNER_COLUMNS = 3
"""The number of columns of a tile: convolutions often have 3, 9 or 27 taps."""


def _inner_tile(rows: int, columns: int) -> Any:
    """Return a function for kernels: `out[i, j] += sum_np left[n, i, p] * right[n, j, p]`.

    Here `columns` is a number of elements. The arguments of the function:

    - out, at, step: an array, the start of the tile in it, and the distance between its rows;
    - used_rows, used_columns: the number of rows and columns to compute, at most `rows` and
      `columns`;
    - left, start, row_step, image_step: an array, the start of its rows, the distance between them,
      and between those for one n and the next;
    - right, origin, right_image_step, offsets, tap: an array, whose row j starts at `origin +
      offsets[tap + j]`, and the distance between the rows for one n and the next;
    - images, count: the sizes of n and p.
    """

    @instruction
    def tile(
        v: Vectors, out: Any, at: Any, step: Any, used_rows: Any, used_columns: Any, left: Any,
        start: Any, row_step: Any, image_step: Any, right: Any, origin: Any, right_image_step: Any,
        offsets: Any, tap: Any, images: Any, count: Any,
    ) -> None:  # fmt: skip
        b = v.builder
        right = b.gep(right, [origin])
        lefts = [
            b.gep(left, [b.add(start, b.mul(clamped_index(v, i, used_rows), row_step))])
            for i in range(rows)
        ]
        taps_used = [b.add(tap, clamped_index(v, j, used_columns)) for j in range(columns)]
        rights = [b.gep(right, [b.load(b.gep(offsets, [tap_index]))]) for tap_index in taps_used]
        sums = [[v.variable(v.zero) for _ in range(columns)] for _ in range(rows)]

        def add(image: Any, position: Any, load: Any) -> None:
            """Add the products of the vectors at a position."""
            left_offset = b.add(b.mul(image, image_step), position)
            right_offset = b.add(b.mul(image, right_image_step), position)
            xs = [load(b.gep(pointer, [right_offset])) for pointer in rights]
            for pointer, totals in zip(lefts, sums, strict=True):
                y = load(b.gep(pointer, [left_offset]))
                for total, x in zip(totals, xs, strict=True):
                    b.store(v.multiply_add(y, x, b.load(total)), total)

        vector_count = b.sdiv(count, index(v.lanes))
        done = b.mul(vector_count, index(v.lanes))
        rest = b.sub(count, done)
        with v.loop(images) as image:
            with v.loop(vector_count) as vector:
                add(image, b.mul(vector, index(v.lanes)), v.load)
            with b.if_then(b.icmp_signed("<", done, count)):
                add(image, done, lambda pointer: v.load(pointer, rest))
        # Store the totals of a column next to each other in memory, as `length` vectors.
        group_rows = min(rows, v.lanes)
        length = rows // group_rows
        gathered = v.variables(columns * length)
        for j, i in itertools.product(range(columns), range(length)):
            column = [b.load(row[j]) for row in sums[i * group_rows : (i + 1) * group_rows]]
            v.store(v.totals(column), b.gep(gathered, [index(j * length + i)]))
        totals = b.bitcast(gathered, out.type)
        for i in range(rows):
            row = b.gep(out, [b.add(at, b.mul(index(i), step))])
            for j in range(columns):
                in_range = b.and_(
                    b.icmp_signed("<", index(i), used_rows),
                    b.icmp_signed("<", index(j), used_columns),
                )
                with b.if_then(in_range):
                    result = b.gep(row, [index(j)])
                    total = b.load(b.gep(totals, [index(j * length * v.lanes + i)]))
                    b.store(b.fadd(b.load(result), total), result)

    return tile


_tile_of_many, _tile_of_some, _tile_of_one = (
    _inner_tile(rows, INNER_COLUMNS) for rows in (LARGEST, SMALLER, 1)
)


@inlined
def inner_products(
    out: Any, at: Any, step: Any, rows: Any, left: Any, start: Any, steps: Any, right: Any,
    origin: Any, right_image_step: Any, offsets: Any, tap: Any, taps: Any, images: Any, count: Any,
) -> None:  # fmt: skip
    """Add inner products to rows: `out[i, j] += sum_np left[n, i, p] * right[n, j, p]`.

    Args:
        out: an array; its rows have a column for each row of `right`.
        at: the start of the first row in it.
        step: the distance between rows.
        rows: the number of rows, at most that of a tile.
        left: an array.
        start: the start of its first row.
        steps: the distance between its rows, and between the rows for one n and the next.
        right: an array; its row j starts at `origin + offsets[tap + j]`.
        origin: see `right`.
        right_image_step: the distance between its rows for one n and the next.
        offsets: the starts of its rows.
        tap: the position of its first row in `offsets`.
        taps: the number of its rows.
        images: the size of n.
        count: the size of p.
    """
    row_step, image_step = steps
    for done in range(0, taps, INNER_COLUMNS):
        used_columns = min(INNER_COLUMNS, taps - done)
        if rows > SMALLER:
            _tile_of_many(
                out, at + done, step, rows, used_columns, left, start, row_step, image_step, right,
                origin, right_image_step, offsets, tap + done, images, count,
            )  # fmt: skip
        elif rows > 1:
            _tile_of_some(
                out, at + done, step, rows, used_columns, left, start, row_step, image_step, right,
                origin, right_image_step, offsets, tap + done, images, count,
            )  # fmt: skip
        else:
            _tile_of_one(
                out, at + done, step, rows, used_columns, left, start, row_step, image_step, right,
                origin, right_image_step, offsets, tap + done, images, count,
            )  # fmt: skip
