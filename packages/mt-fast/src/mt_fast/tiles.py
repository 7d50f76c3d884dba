"""Tiles: small blocks of a matrix product whose sums are kept in registers.

A product of matrices reads every element many times over. A tile of `rows` x `columns` vectors
reads `rows + columns` of them for `rows * columns` multiplications, and writes none until all is
added up. Its second factor need not be a matrix in memory: its rows begin wherever a table of
offsets says, so that they may overlap, as the windows of a convolution do.

- `product_tile`: sums along the table, results in vectors: `weights @ windows`;
- `inner_tile`: sums along the rows themselves: `gradients @ windows.T`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mt_fast.simd import INDEX, REGISTERS, Vectors

LARGEST, SMALLER = (8, 4) if REGISTERS == 32 else (4, 2)
"""How many rows a tile has if there are enough, and if not."""

SUMS = 3 * REGISTERS // 4
"""How many registers hold the sums of a tile; the others hold what is multiplied."""

COLUMNS = {LARGEST: SUMS // LARGEST, SMALLER: SUMS // SMALLER, 1: 8}
"""How many columns a tile has, by its rows."""

INNER_COLUMNS = 3
"""How many columns a tile of inner products has."""

_int = types.int64


def _constant(value: int) -> Any:
    return ir.Constant(INDEX, value)


def _pointers(context: Any, builder: Any, signature: Any, args: Any) -> list[Any]:
    """Return the arguments, with a pointer to its first element for each array."""
    return [
        context.make_array(kind)(context, builder, value).data
        if isinstance(kind, types.Array)
        else value
        for kind, value in zip(signature.args, args, strict=True)
    ]


def product_tile(rows: int, columns: int) -> Any:
    """Return a function for kernels: `out[i, j] = start[i] + sum_t weights[t, i] * source[t, j]`.

    Its arguments:

    - out, out_at, out_step: an array, where the tile begins in it, and how far apart its rows are;
    - used: how many rows are written, at most `rows`;
    - count: how many elements of a row; if `columns` is not 1, all;
    - weights, weights_at: `rows` starting values, and then `rows` weights for each row of the
      source;
    - source, source_at, offsets, taps: row t of the source, as long as the tile is wide even if
      `count` is less, begins at `source_at + offsets[t]`, and there are `taps` rows.
    """

    @intrinsic
    def tile(
        _context: Any,
        out: Any,
        out_at: Any,  # noqa: ARG001 - Numba asks for the types
        out_step: Any,  # noqa: ARG001
        used: Any,  # noqa: ARG001
        count: Any,  # noqa: ARG001
        weights: Any,
        weights_at: Any,  # noqa: ARG001
        source: Any,
        source_at: Any,  # noqa: ARG001
        offsets: Any,
        taps: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
            v = Vectors(b, out.dtype)
            results, at, step, used, count, factors, first, data, start, table, taps = _pointers(
                context, b, signature, args
            )
            factors, data = b.gep(factors, [first]), b.gep(data, [start])
            sums = []
            for i in range(rows):
                begin = v.repeated(b.gep(factors, [_constant(i)]))
                sums.append([cgutils.alloca_once_value(b, begin) for _ in range(columns)])
            with cgutils.for_range(b, taps, intp=INDEX) as loop:
                row = b.gep(data, [b.load(b.gep(table, [loop.index]))])
                seen = [v.load(b.gep(row, [_constant(j * v.lanes)])) for j in range(columns)]
                now = b.mul(b.add(loop.index, _constant(1)), _constant(rows))
                for i in range(rows):
                    factor = v.repeated(b.gep(factors, [b.add(now, _constant(i))]))
                    for total, x in zip(sums[i], seen, strict=True):
                        b.store(v.multiply_add(factor, x, b.load(total)), total)
            for i in range(rows):
                with b.if_then(b.icmp_signed("<", _constant(i), used)):
                    row = b.gep(results, [b.add(at, b.mul(_constant(i), step))])
                    if columns == 1:
                        _store_some(v, b.load(sums[i][0]), row, count)
                        continue
                    for j, total in enumerate(sums[i]):
                        v.store(b.load(total), b.gep(row, [_constant(j * v.lanes)]))
            return context.get_dummy_value()

        arguments = (out, _int, _int, _int, _int, weights, _int, source, _int, offsets, _int)
        return types.void(*arguments), generate

    return tile


def _store_some(v: Vectors, vector: Any, pointer: Any, count: Any) -> None:
    """Write the first `count` elements of a vector, or all if it has no more."""
    b = v.builder
    whole = b.icmp_signed(">=", count, _constant(v.lanes))
    with b.if_else(whole) as (then, otherwise):
        with then:
            v.store(vector, pointer)
        with otherwise:
            v.store_masked(vector, pointer, v.first(count))


def inner_tile(rows: int, columns: int) -> Any:
    """Return a function for kernels: `out[i, j] += sum_np left[n, i, p] * right[n, j, p]`.

    Here `columns` is a number of elements. The function's arguments:

    - out, out_at, out_step: an array, where the tile begins in it, and how far apart its rows are;
    - used, wanted: how many rows and columns there are, at most `rows` and `columns`;
    - left, left_at, left_step, left_next: the rows of the left factor, where they begin, how far
      apart they are, and how far apart the same rows for one n and the next;
    - right, right_at, right_next: the same of the right factor, but that
    - offsets, tap: its row j begins at `right_at + offsets[tap + j]`;
    - images, count: the extents of n and p.
    """

    @intrinsic
    def tile(
        _context: Any,
        out: Any,
        out_at: Any,  # noqa: ARG001 - Numba asks for the types
        out_step: Any,  # noqa: ARG001
        used: Any,  # noqa: ARG001
        wanted: Any,  # noqa: ARG001
        left: Any,
        left_at: Any,  # noqa: ARG001
        left_step: Any,  # noqa: ARG001
        left_next: Any,  # noqa: ARG001
        right: Any,
        right_at: Any,  # noqa: ARG001
        right_next: Any,  # noqa: ARG001
        offsets: Any,
        tap: Any,  # noqa: ARG001
        images: Any,  # noqa: ARG001
        count: Any,  # noqa: ARG001
    ) -> Any:
        def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
            v = Vectors(b, out.dtype)
            (
                results, at, step, used, wanted,
                lefts, left_at, left_step, left_next,
                rights, right_at, right_next, table, tap, images, count,
            ) = _pointers(context, b, signature, args)  # fmt: skip

            def existing(i: int, extent: Any) -> Any:
                """Return i, or the last index: what is beyond the edge is computed in vain."""
                last = b.sub(extent, _constant(1))
                return b.select(b.icmp_signed("<", _constant(i), extent), _constant(i), last)

            starts = [b.add(left_at, b.mul(existing(i, used), left_step)) for i in range(rows)]
            shifts = [
                b.load(b.gep(table, [b.add(tap, existing(j, wanted))])) for j in range(columns)
            ]
            sums = [
                [cgutils.alloca_once_value(b, v.zero) for _ in range(columns)] for _ in range(rows)
            ]

            def add(places: list[Any], load: Any) -> None:
                """Add the products of the vectors at some places."""
                xs = [load(pointer) for pointer in places[rows:]]
                for i, pointer in enumerate(places[:rows]):
                    y = load(pointer)
                    for total, x in zip(sums[i], xs, strict=True):
                        b.store(v.multiply_add(y, x, b.load(total)), total)

            whole = b.sdiv(count, _constant(v.lanes))
            done = b.mul(whole, _constant(v.lanes))
            rest = b.sub(count, done)
            with cgutils.for_range(b, images, intp=INDEX) as image:
                left_here = b.gep(lefts, [b.mul(image.index, left_next)])
                right_here = b.gep(rights, [b.add(right_at, b.mul(image.index, right_next))])
                bases = [b.gep(left_here, [start]) for start in starts]
                bases += [b.gep(right_here, [shift]) for shift in shifts]
                with cgutils.for_range(b, whole, intp=INDEX) as loop:
                    place = b.mul(loop.index, _constant(v.lanes))
                    add([b.gep(base, [place]) for base in bases], v.load)
                with b.if_then(b.icmp_signed(">", rest, _constant(0))):
                    mask = v.first(rest)
                    last = [b.gep(base, [done]) for base in bases]
                    add(last, lambda pointer: v.load_masked(pointer, mask))
            for i in range(rows):
                for j in range(columns):
                    here = b.and_(
                        b.icmp_signed("<", _constant(i), used),
                        b.icmp_signed("<", _constant(j), wanted),
                    )
                    with b.if_then(here):
                        place = b.add(b.add(at, b.mul(_constant(i), step)), _constant(j))
                        result = b.gep(results, [place])
                        b.store(b.fadd(b.load(result), v.total(b.load(sums[i][j]))), result)
            return context.get_dummy_value()

        arguments = (
            out, _int, _int, _int, _int,
            left, _int, _int, _int,
            right, _int, _int, offsets, _int, _int, _int,
        )  # fmt: skip
        return types.void(*arguments), generate

    return tile
