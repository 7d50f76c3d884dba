"""Blocks of elements turned around in registers: rows become columns.

Loops run along rows. This is for what lies in columns. Where elements in a row come from a column,
copying them one by one takes a load and a store for each. Here as many rows as a vector has
elements are loaded as vectors, and interleaved again and again: the first half of the rows with the
second half, element by element, like two halves of a pack of cards. After as many shuffles as it
takes to halve the block down to one row, each vector is what was a column.

Blocks make up tiles, which are what a loop does at a time: into where its result lies, or into a
room of its own that the cache holds until its rows have been used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing import templates
from numba.extending import intrinsic, register_jitable
from numba.np.numpy_support import as_dtype

from mt_fast.compilation.jit import jit
from mt_fast.processor import VECTOR_BYTES

MOST_LANES = 16
"""The largest block: its rows, and as many vectors made of them, have to fit the registers."""

TILE_ROWS = 32
"""How many rows are made of columns before the next columns are read: what follows in these, to the
end of what memory fetches at a time, is still in the cache then."""

TILE_COLUMNS = 256
"""How many columns a tile has at most: few enough for its elements to stay in the cache, and enough
for loops over its rows."""


@register_jitable
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
    itemsize = as_dtype(source.dtype).itemsize
    lanes = lanes_of(itemsize)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        read, start, apart, written, to, stride = values
        kind = ir.VectorType(context.get_data_type(source.dtype), lanes)

        def vector_at(array: Any, place: int, first: Any, step: Any) -> Any:
            data = context.make_array(signature.args[place])(context, builder, array).data
            for i in range(lanes):
                at = builder.add(first, builder.mul(step, ir.Constant(step.type, i)))
                yield builder.bitcast(builder.gep(data, [at]), kind.as_pointer())

        vectors = []
        for pointer in vector_at(read, 0, start, apart):
            vectors.append(builder.load(pointer))
            vectors[-1].align = itemsize
        for pointer, vector in zip(
            vector_at(written, 3, to, stride), _turned(builder, vectors), strict=True
        ):
            builder.store(vector, pointer).align = itemsize
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


@jit(no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
def turn_tile(
    source: Any,
    start: int,
    apart: int,
    target: Any,
    to: int,
    stride: int,
    rows: int,
    columns: int,
) -> None:
    """Copy as `turn` does, but any number of rows and columns.

    What lies together is read together, and turned around in square blocks; what does not fill
    these is copied one by one.
    """
    lanes = lanes_of(source.itemsize)
    whole = rows - rows % lanes
    for first in range(0, columns, lanes):
        width = min(lanes, columns - first)
        turned = whole if width == lanes else 0
        read, written = start + first * apart, to + first
        for i in range(0, turned, lanes):
            turn(source, read + i, apart, target, written + i * stride, stride)  # type: ignore[call-arg]
        for i in range(turned, rows):
            for j in range(width):
                target[written + i * stride + j] = source[read + i + j * apart]


@intrinsic
def room(_context: Any, like: Any) -> Any:
    """Return room on the stack for a tile of elements like those of an array, row by row.

    A kernel that asked for memory would have to count references to all of its arrays.
    """
    kind = types.Array(like.dtype, 1, "C")

    def generate(context: Any, builder: Any, _signature: Any, _values: Any) -> Any:
        element = context.get_data_type(like.dtype)
        count, itemsize = (
            context.get_constant(types.intp, number)
            for number in (TILE_ROWS * TILE_COLUMNS, context.get_abi_sizeof(element))
        )
        data = cgutils.alloca_once(builder, element, size=count)  # type: ignore[no-untyped-call]
        data.align = VECTOR_BYTES
        array = context.make_array(kind)(context, builder)
        context.populate_array(
            array, data=data, shape=[count], strides=[itemsize], itemsize=itemsize, meminfo=None
        )
        return array._getvalue()

    return templates.signature(kind, like), generate  # type: ignore[no-untyped-call]
