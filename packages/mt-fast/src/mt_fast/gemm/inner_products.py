"""Tiles of inner products: a matrix by the transpose of another, summed over images.

The gradient of the kernels of a convolution multiplies what its windows saw by the gradients of
what came of them, position by position: the sums run along the rows of both factors, and go on from
image to image. A *tap* is a place in the window, here a column of the result. At its end a tile
adds up the elements of its vectors.
"""

from __future__ import annotations

import itertools
from typing import Any

from mt_fast.gemm.tiles import LARGEST, SMALLER, existing
from mt_fast.vectors.compiler import inlined
from mt_fast.vectors.instructions import Vectors, index, instruction

INNER_COLUMNS = 3
"""How many columns a tile has: convolutions often have 3, 9 or 27 taps."""


def _inner_tile(rows: int, columns: int) -> Any:
    """Return a function for kernels: `out[i, j] += sum_np left[n, i, p] * right[n, j, p]`.

    Here `columns` is a number of elements. The function's arguments:

    - out, at, step: an array, where the tile begins in it, and how far apart its rows are;
    - used, wanted: how many rows and columns there are, at most `rows` and `columns`;
    - left, start, apart, after: an array, where its rows begin, how far apart they are, and how
      far apart those for one n and the next;
    - right, origin, beyond, offsets, tap: an array, whose row j begins at
      `origin + offsets[tap + j]`, and how far apart the rows for one n and the next are;
    - images, count: the sizes of n and p.
    """

    @instruction
    def tile(
        v: Vectors, out: Any, at: Any, step: Any, used: Any, wanted: Any, left: Any, start: Any,
        apart: Any, after: Any, right: Any, origin: Any, beyond: Any, offsets: Any, tap: Any,
        images: Any, count: Any,
    ) -> None:  # fmt: skip
        b = v.builder
        right = b.gep(right, [origin])
        lefts = [
            b.gep(left, [b.add(start, b.mul(existing(v, i, used), apart))]) for i in range(rows)
        ]
        places = [b.add(tap, existing(v, j, wanted)) for j in range(columns)]
        rights = [b.gep(right, [b.load(b.gep(offsets, [place]))]) for place in places]
        sums = [[v.variable(v.zero) for _ in range(columns)] for _ in range(rows)]

        def add(image: Any, position: Any, load: Any) -> None:
            """Add the products of the vectors at a position."""
            on_the_left = b.add(b.mul(image, after), position)
            on_the_right = b.add(b.mul(image, beyond), position)
            xs = [load(b.gep(pointer, [on_the_right])) for pointer in rights]
            for pointer, totals in zip(lefts, sums, strict=True):
                y = load(b.gep(pointer, [on_the_left]))
                for total, x in zip(totals, xs, strict=True):
                    b.store(v.multiply_add(y, x, b.load(total)), total)

        whole = b.sdiv(count, index(v.lanes))
        done = b.mul(whole, index(v.lanes))
        rest = b.sub(count, done)
        with v.loop(images) as image:
            with v.loop(whole) as vector:
                add(image, b.mul(vector, index(v.lanes)), v.load)
            with b.if_then(b.icmp_signed("<", done, count)):
                add(image, done, lambda pointer: v.load(pointer, rest))
        # The totals of a column become neighbours in memory, so many vectors of them.
        several = min(rows, v.lanes)
        length = rows // several
        gathered = v.variables(columns * length)
        for j, i in itertools.product(range(columns), range(length)):
            column = [b.load(row[j]) for row in sums[i * several : (i + 1) * several]]
            v.store(v.totals(column), b.gep(gathered, [index(j * length + i)]))
        totals = b.bitcast(gathered, out.type)
        for i in range(rows):
            row = b.gep(out, [b.add(at, b.mul(index(i), step))])
            for j in range(columns):
                there = b.and_(
                    b.icmp_signed("<", index(i), used), b.icmp_signed("<", index(j), wanted)
                )
                with b.if_then(there):
                    result = b.gep(row, [index(j)])
                    total = b.load(b.gep(totals, [index(j * length * v.lanes + i)]))
                    b.store(b.fadd(b.load(result), total), result)

    return tile


def _inner_products(rows: int) -> Any:
    """Return `inner_products` for at most that many rows."""
    tile = _inner_tile(rows, INNER_COLUMNS)

    @inlined
    def inner_products_of_rows(
        out: Any, at: Any, step: Any, used: Any, left: Any, start: Any, steps: Any, right: Any,
        origin: Any, beyond: Any, offsets: Any, tap: Any, taps: Any, images: Any, count: Any,
    ) -> None:  # fmt: skip
        apart, after = steps
        for done in range(0, taps, INNER_COLUMNS):
            wanted = min(INNER_COLUMNS, taps - done)
            tile(
                out, at + done, step, used, wanted, left, start, apart, after, right, origin,
                beyond, offsets, tap + done, images, count,
            )  # fmt: skip

    return inner_products_of_rows


_inner_of_many, _inner_of_some, _inner_of_one = map(_inner_products, (LARGEST, SMALLER, 1))


@inlined
def inner_products(
    out: Any, at: Any, step: Any, rows: Any, left: Any, start: Any, steps: Any, right: Any,
    origin: Any, beyond: Any, offsets: Any, tap: Any, taps: Any, images: Any, count: Any,
) -> None:  # fmt: skip
    """Add to rows of inner products: `out[i, j] += sum_np left[n, i, p] * right[n, j, p]`.

    Args:
        out: an array; its rows have a column for each row of `right`.
        at: where the first row begins in it.
        step: how far apart rows are.
        rows: how many there are, at most those of a tile.
        left: an array.
        start: where its first row begins.
        steps: how far apart in it are rows, and the rows for one n and the next.
        right: an array; its row j begins at `origin + offsets[tap + j]`.
        origin: see there.
        beyond: how far apart in it are the rows for one n and the next.
        offsets: an array of where its rows begin.
        tap: where in that the first row is.
        taps: how many rows there are.
        images: the size of n.
        count: the size of p.
    """
    if rows > SMALLER:
        _inner_of_many(
            out, at, step, rows, left, start, steps, right, origin, beyond, offsets, tap, taps,
            images, count,
        )  # fmt: skip
    elif rows > 1:
        _inner_of_some(
            out, at, step, rows, left, start, steps, right, origin, beyond, offsets, tap, taps,
            images, count,
        )  # fmt: skip
    else:
        _inner_of_one(
            out, at, step, rows, left, start, steps, right, origin, beyond, offsets, tap, taps,
            images, count,
        )  # fmt: skip
