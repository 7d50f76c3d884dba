"""Matrix multiplication with tiles in shared memory.

Each block computes a square tile of the result. It iterates over the inner dimension: all threads
load a strip of `a` and a strip of `b` into shared memory, wait at a barrier, and multiply the
strips. So every element read from global memory is used once per row or column of the tile.

Within a tile each thread computes a small square of elements, kept in registers: from
`each + each` numbers read from shared memory it computes `each * each` products. Its elements are
spaced by `side`, so that neighboring threads access neighboring memory.

Strides are arbitrary, so transposed matrices need no copy. Edges are padded with zeros.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.elements import computed, load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, define, indented, numbers
from mt_cuda.core.layout import position, size_names, stride_names, take_apart
from mt_fast.core.rendering import constant, converted
from mt_tensor import DType, int64


@dataclass(frozen=True, slots=True)
class Tiling:
    """The tile sizes of a matrix product.

    Attributes:
        side: the number of threads along a side of a tile; a block has side * side.
        each: the number of elements along a side of the square that a thread computes.
        depth: the length of the strips in shared memory along the inner dimension.
    """

    side: int
    each: int
    depth: int

    @property
    def tile(self) -> int:
        """The number of elements along a side of a tile."""
        return self.side * self.each

    @property
    def threads(self) -> int:
        """The number of threads per block."""
        return self.side * self.side


LARGE = Tiling(side=16, each=8, depth=8)
SMALL = Tiling(side=16, each=2, depth=16)


def matmul(dtype: DType, tiling: Tiling, batch: int, a_by_rows: bool, b_by_rows: bool) -> Kernel:
    """Generate the kernel of `out[..., i, k] = sum over j of a[..., i, j] * b[..., j, k]`.

    Args:
        dtype: the dtype of the factors and the result.
        tiling: the tile sizes.
        batch: the number of batch dimensions after merging.
        a_by_rows: whether the stride within rows of `a` is the smaller one; threads load in that
            direction.
        b_by_rows: the same for `b`.
    """
    total = total_type(dtype)
    side, each, depth, tile = tiling.side, tiling.each, tiling.depth, tiling.tile
    zero = constant(0, total)
    body = [
        # An additional column, so that the elements of a column are in different banks.
        f"a_tile = cuda.shared.array(({depth}, {tile + 1}), {total.name})",
        f"b_tile = cuda.shared.array(({depth}, {tile + 1}), {total.name})",
        f"totals = cuda.local.array(({each}, {each}), {total.name})",
        f"a_each = cuda.local.array({each}, {total.name})",
        f"b_each = cuda.local.array({each}, {total.name})",
        "thread = cuda.threadIdx.x",
        f"down = thread // {side}",
        f"right = thread % {side}",
        *_find_tile(tile, batch),
        f"for i in range({each}):",
        f"    for k in range({each}):",
        f"        totals[i, k] = {zero}",
        "first = 0",
        "while first < inner:",
        *indented(_load_strip("a", tiling, dtype, a_by_rows)),
        *indented(_load_strip("b", tiling, dtype, b_by_rows)),
        "    cuda.syncthreads()",
        *indented(_multiply_strips(tiling)),
        "    cuda.syncthreads()",
        f"    first += {depth}",
        *_store_tile(tiling, dtype),
    ]
    ways = "".join("r" if by_rows else "c" for by_rows in (a_by_rows, b_by_rows))
    name = f"matmul_{dtype.name}_{tile}_{ways}_batch{batch}"
    strides = [s for m in ("a", "b", "out") for s in (f"{m}_row_stride", f"{m}_column_stride")]
    parameters = [
        *numbers("batches", "rows", "inner", "columns", *strides, *size_names(batch)),
        *numbers(*(s for m in ("a", "b", "out") for s in stride_names(m, batch))),
        *(p for m in ("a", "b", "out") for p in operand(m, dtype)),
    ]
    return define(name, parameters, body, "batches", "rows", "inner", "columns")


def total_type(dtype: DType) -> DType:
    """Return the accumulator type: int64 for integers, float32 for 16-bit floats."""
    return int64 if dtype.kind == "integer" else computed(dtype)


def _find_tile(tile: int, batch: int) -> Lines:
    """Return the lines that compute the tile and the product of this block."""
    return [
        f"tiles_across = (columns + {tile - 1}) // {tile}",
        f"tiles_down = (rows + {tile - 1}) // {tile}",
        f"left = cuda.blockIdx.x % tiles_across * {tile}",
        f"top = cuda.blockIdx.x // tiles_across % tiles_down * {tile}",
        *take_apart("cuda.blockIdx.x // tiles_across // tiles_down", size_names(batch), "int64"),
        *(f"{m}_start = {position(f'{m}_at', stride_names(m, batch))}" for m in ("a", "b", "out")),
    ]


def _load_strip(matrix: str, tiling: Tiling, dtype: DType, by_rows: bool) -> Lines:
    """Return the lines with which all threads load a strip of a matrix into shared memory.

    In shared memory the inner dimension comes first, for both matrices. `along` is a row of `a` or
    a column of `b`, and `j` the inner dimension.
    """
    total = total_type(dtype)
    if matrix == "a":
        row, column, inside = "(top + along)", "(first + j)", "(top + along < rows)"
        inner_runs_fastest = by_rows
    else:
        row, column, inside = "(first + j)", "(left + along)", "(left + along < columns)"
        inner_runs_fastest = not by_rows
    fast = tiling.depth if inner_runs_fastest else tiling.tile
    j, along = ("%", "//") if inner_runs_fastest else ("//", "%")
    strides = f"{row} * {matrix}_row_stride + {column} * {matrix}_column_stride"
    return [
        "e = thread",
        f"while e < {tiling.depth * tiling.tile}:",
        f"    j = e {j} {fast}",
        f"    along = e {along} {fast}",
        f"    value = {constant(0, total)}",
        f"    if {inside} & (first + j < inner):",
        f"        at = {matrix}_start + {strides}",
        f"        value = {load(f'{matrix}[at]', dtype, total)}",
        f"    {matrix}_tile[j, along] = value",
        f"    e += {tiling.threads}",
    ]


def _multiply_strips(tiling: Tiling) -> Lines:
    """Return the lines with which each thread adds the products of two strips to its totals.

    At each position of the inner dimension it reads its part of both strips into registers, and
    computes their outer product.
    """
    side, each = tiling.side, tiling.each
    return [
        f"for j in range({tiling.depth}):",
        f"    for i in range({each}):",
        f"        a_each[i] = a_tile[j, down + {side} * i]",
        f"        b_each[i] = b_tile[j, right + {side} * i]",
        f"    for i in range({each}):",
        f"        for k in range({each}):",
        "            totals[i, k] += a_each[i] * b_each[k]",
    ]


def _store_tile(tiling: Tiling, dtype: DType) -> Lines:
    """Return the lines with which each thread stores its totals that are inside the result."""
    side, each, total = tiling.side, tiling.each, total_type(dtype)
    return [
        f"for i in range({each}):",
        f"    for k in range({each}):",
        f"        row = top + down + {side} * i",
        f"        column = left + right + {side} * k",
        "        if (row < rows) & (column < columns):",
        "            at = out_start + row * out_row_stride + column * out_column_stride",
        f"            out[at] = {store(converted('totals[i, k]', total, dtype), dtype)}",
    ]
