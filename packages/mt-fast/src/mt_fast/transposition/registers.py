"""Transpose blocks in registers: columns of memory become rows.

Copying a column to a row element by element takes a load and a store for each. Here as many columns
as a vector has elements are loaded as vectors, and interleaved repeatedly: the first half of the
vectors with the second half, element by element, like two halves of a pack of cards. After log2(n)
rounds each vector is a row.

Blocks make up tiles, which copies (`copies.py`) transpose one at a time.

Numba does not compile the body of an `intrinsic`, but calls it with the types of the arguments. It
returns a signature and `generate`, which appends LLVM instructions with a `builder`. (`gep` is the
address of an element; `cgutils` has some instructions that are often combined.)
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing import templates
from numba.extending import intrinsic, register_jitable
from numba.np.numpy_support import as_dtype

from mt_fast.core.tables import jit
from mt_fast.vectors.processor import VECTOR_BYTES

TILE_ROWS = 32
"""The maximum number of rows of a tile: the number of adjacent elements to read of each column. The
rest of a cache line is still in the cache when the next rows are made from the same columns."""

TILE_COLUMNS = 256
"""The maximum number of columns of a tile: few enough for its elements to stay in the cache, and
enough for loops over its rows."""

MAX_LANES = 16
"""The largest block: its columns, and as many vectors made of them, have to fit in registers."""


@register_jitable
def lanes_of(itemsize: int) -> int:
    """Return the number of rows and columns of a block, for elements of this size."""
    return min(MAX_LANES, VECTOR_BYTES // itemsize)


@intrinsic
def transpose_block(
    _context: Any,
    source: Any,
    source_start: Any,  # noqa: ARG001 - Numba binds arguments to parameters
    column_stride: Any,  # noqa: ARG001
    target: Any,
    target_start: Any,  # noqa: ARG001
    row_stride: Any,  # noqa: ARG001
) -> Any:
    """Copy a block between flat arrays of one dtype: columns of the source become rows.

    Args:
        _context: the typing context of Numba.
        source: the array to read.
        source_start: the position of the first element.
        column_stride: the distance between columns; the elements of one are adjacent.
        target: the array to write.
        target_start: the position of the first element.
        row_stride: the distance between rows.
    """
    positions = (types.int64, types.int64)
    arguments = (source, *positions, target, *positions)
    itemsize = as_dtype(source.dtype).itemsize
    lanes = lanes_of(itemsize)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        read, source_start, column_stride, written, target_start, row_stride = values
        kind = ir.VectorType(context.get_data_type(source.dtype), lanes)

        def pointers(array: Any, argument: int, first: Any, stride: Any) -> Any:
            data = context.make_array(signature.args[argument])(context, builder, array).data
            for i in range(lanes):
                position = builder.add(first, builder.mul(stride, ir.Constant(stride.type, i)))
                yield builder.bitcast(builder.gep(data, [position]), kind.as_pointer())

        vectors = []
        for pointer in pointers(read, 0, source_start, column_stride):
            vectors.append(builder.load(pointer))
            vectors[-1].align = itemsize
        targets = pointers(written, 3, target_start, row_stride)
        for pointer, vector in zip(targets, _transposed(builder, vectors), strict=True):
            builder.store(vector, pointer).align = itemsize
        return context.get_dummy_value()

    return templates.signature(types.void, *arguments), generate  # type: ignore[no-untyped-call]


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """Return the columns of a square block, as LLVM vectors."""
    count = len(rows)
    indices = ir.VectorType(ir.IntType(32), count)
    pairs = [index for i in range(count) for index in (i, count + i)]  # of two rows, interleaved
    halves = [ir.Constant(indices, part) for part in (pairs[:count], pairs[count:])]
    for _ in range(count.bit_length() - 1):
        rows = [
            builder.shuffle_vector(rows[i], rows[i + count // 2], half)
            for i in range(count // 2)
            for half in halves
        ]
    return rows


# For kernels only, and without counting references: see `inner` in `vectors/compiler.py`.
@jit(no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
def transpose_tile(
    source: Any,
    source_start: int,
    column_stride: int,
    target: Any,
    target_start: int,
    row_stride: int,
    rows: int,
    columns: int,
) -> None:
    """Copy as `transpose_block` does, but any number of rows and columns.

    Square blocks are transposed in registers; the remainder is copied element by element.
    """
    lanes = lanes_of(source.itemsize)
    block_rows = rows - rows % lanes
    for first in range(0, columns, lanes):
        width = min(lanes, columns - first)
        in_blocks = block_rows if width == lanes else 0
        read, written = source_start + first * column_stride, target_start + first
        for i in range(0, in_blocks, lanes):
            transpose_block(  # type: ignore[call-arg]
                source, read + i, column_stride, target, written + i * row_stride, row_stride
            )
        for i in range(in_blocks, rows):
            for j in range(width):
                target[written + i * row_stride + j] = source[read + i + j * column_stride]
