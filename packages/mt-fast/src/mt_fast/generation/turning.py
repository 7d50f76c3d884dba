"""Blocks of elements turned around in registers: rows become columns.

Where elements in a row come from a column, copying them one by one takes a load and a store for
each. Here as many rows as a vector has elements are loaded as vectors, and interleaved again and
again: the first half of the rows with the second half, element by element, like two halves of a
pack of cards. After as many shuffles as it takes to halve the block down to one row, each vector is
what was a column.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing import templates
from numba.extending import intrinsic

from mt_fast.processor import VECTOR_BYTES

MOST_LANES = 16
"""The largest block: its rows, and as many vectors made of them, have to fit the registers."""


def lanes_of(itemsize: int) -> int:
    """Return how many rows and columns a block has, of elements of so many bytes."""
    return min(MOST_LANES, VECTOR_BYTES // itemsize)


@intrinsic
def turn(
    _context: Any,
    source: Any,
    start: Any,  # noqa: ARG001 - Numba binds arguments to parameters
    apart: Any,  # noqa: ARG001
    target: Any,
    to: Any,  # noqa: ARG001
    stride: Any,  # noqa: ARG001
) -> Any:
    """Copy a block between flat arrays of one type: its columns in the source are rows then.

    Args:
        _context: what Numba passes.
        source: what is read.
        start: the position of the first element.
        apart: how far apart columns are; the elements of one are neighbours.
        target: what is written.
        to: the position of the first element.
        stride: how far apart rows are.
    """
    positions = (types.int64, types.int64)
    arguments = (source, *positions, target, *positions)
    lanes = lanes_of(source.dtype.bitwidth // 8)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        read, start, apart, written, to, stride = values
        kind = ir.VectorType(context.get_value_type(source.dtype), lanes)

        def vector_at(array: Any, place: int, first: Any, step: Any) -> Any:
            data = context.make_array(signature.args[place])(context, builder, array).data
            for i in range(lanes):
                at = builder.add(first, builder.mul(step, ir.Constant(step.type, i)))
                yield builder.bitcast(builder.gep(data, [at]), kind.as_pointer())

        vectors = []
        for pointer in vector_at(read, 0, start, apart):
            vectors.append(builder.load(pointer))
            vectors[-1].align = source.dtype.bitwidth // 8
        for pointer, vector in zip(
            vector_at(written, 3, to, stride), _turned(builder, vectors), strict=True
        ):
            builder.store(vector, pointer).align = source.dtype.bitwidth // 8
        return context.get_dummy_value()

    return templates.signature(types.void, *arguments), generate  # type: ignore[no-untyped-call]


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """Return the columns of a square block, as LLVM's vectors."""
    count = len(rows)
    places = ir.VectorType(ir.IntType(32), count)
    pairs = [place for i in range(count) for place in (i, count + i)]  # of two rows, interleaved
    halves = [ir.Constant(places, part) for part in (pairs[:count], pairs[count:])]
    for _ in range(count.bit_length() - 1):
        rows = [
            builder.shuffle_vector(rows[i], rows[i + count // 2], half)
            for i in range(count // 2)
            for half in halves
        ]
    return rows
