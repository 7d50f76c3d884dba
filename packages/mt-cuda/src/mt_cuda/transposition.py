"""Copies that transpose, by tiles in shared memory.

Adjacent threads should read adjacent elements, and write adjacent ones, too. A direct copy to a
layout with another contiguous dimension can do only one of the two. So a block loads a square tile
along the rows of one layout into shared memory, and stores it along the rows of the other. The rows
of the tile are padded by one element: otherwise all elements of a column would be in one memory
bank, and read one after the other.
"""

from __future__ import annotations

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import operand, stored_type
from mt_cuda.core.kernel import Kernel, define, numbers
from mt_cuda.core.layout import (
    Layout,
    index_type,
    merge,
    position,
    size_names,
    stride_names,
    take_apart,
    wide_suffix,
)
from mt_cuda.core.tables import SPECIAL_CASES
from mt_tensor import DType, TensorData
from mt_tensor.extending import size_of

SIDE, FEW = 32, 4
"""The number of rows and columns of a tile: the threads of a warp, or `FEW` for smaller blocks."""


def transposed(dtype: DType, rank: int, side: int, threads: int, index: str) -> Kernel:
    """Return the kernel that copies contiguous columns of `x` to contiguous rows of `y`.

        for each matrix, row and column:  y[row, column] = x[row, column]

    Args:
        dtype: the dtype of the elements.
        rank: the number of batch dimensions, at least 1.
        side: the number of rows and columns of a tile.
        threads: the number of threads per block, a multiple of `side`.
        index: the integer type of index arithmetic.
    """
    strides = {each: stride_names(each, rank) for each in ("x", "y")}
    turns, step = side * side // threads, threads // side
    body = [
        f"tile = cuda.shared.array({side * (side + 1)}, {stored_type(dtype)})",
        f"across = index32(cuda.threadIdx.x % {side})",
        f"down = index32(cuda.threadIdx.x // {side})",
        "block = index32(cuda.blockIdx.x)",
        f"first_column = {side} * (block % index32(tiles_across))",
        "rest = block // index32(tiles_across)",
        f"first_row = {side} * (rest % index32(tiles_down))",
        *take_apart("rest // index32(tiles_down)", size_names(rank), index),
        f"source = {position('x_at', strides['x'])}",
        f"target = {position('y_at', strides['y'])}",
        "row = first_row + across",
        f"for k in range({turns}):",
        f"    column = first_column + down + {step} * k",
        "    if (row < rows) & (column < columns):",
        f"        tile[(down + {step} * k) * {side + 1} + across] = "
        "x[source + row + int64(column) * x_apart]",
        "cuda.syncthreads()",
        "column = first_column + across",
        f"for k in range({turns}):",
        f"    row = first_row + down + {step} * k",
        "    if (row < rows) & (column < columns):",
        f"        y[target + int64(row) * y_apart + column] = "
        f"tile[across * {side + 1} + down + {step} * k]",
    ]
    sizes = ("rows", "columns", "tiles_down", "tiles_across", "x_apart", "y_apart")
    parameters = [
        *numbers(*sizes, *size_names(rank), *strides["x"], *strides["y"]),
        *operand("x", dtype),
        *operand("y", dtype),
    ]
    name = f"transposed_{dtype.name}_{side}_of_{rank}{wide_suffix(index)}"
    return define(name, parameters, body)


def copy(ops: CudaOps, source: TensorData, out: TensorData) -> bool:
    """Copy by tiles if the two layouts have different contiguous dimensions.

    Return whether the copy was made.
    """
    if source.dtype is not out.dtype or source.shape != out.shape or not source.size:
        return False
    key = ("transposed", source.dtype, source.shape, source.strides, out.strides)
    (planned,) = ops.remembered(key, lambda: (_plan_tiles(ops, source, out),))
    if planned is None:
        return False
    ops.launch(planned, (source, out))
    return True


def _plan_tiles(ops: CudaOps, source: TensorData, target: TensorData) -> Plan | None:
    """Plan a copy by tiles; None if both layouts have the same contiguous dimension."""
    layout = merge(source.shape, (source.strides, target.strides))
    read, written = layout.strides
    size = ops.machine.size
    side = SIDE if size.threads >= SIDE else FEW
    found = _contiguous_dimensions(layout, side)
    if found is None:
        return None
    row, column = found
    others = [d for d in range(layout.rank) if d not in found]
    rows, columns = layout.shape[row], layout.shape[column]
    sizes = tuple(layout.shape[d] for d in others) or (1,)
    apart = (strides[d] for strides in layout.strides for d in others) if others else (0, 0)
    down, across, matrices = -(-rows // side), -(-columns // side), size_of(sizes)
    index = index_type(matrices)
    kernel = transposed(source.dtype, len(sizes), side, size.threads, index)
    given = (rows, columns, down, across, read[column], written[row], *sizes[1:], *apart)
    return ops.plan(kernel, (down * across * matrices, 1), size.threads, given)


def _contiguous_dimensions(layout: Layout, side: int) -> tuple[int, int] | None:
    """Return the contiguous dimensions of the source and the target.

    Return None if they are the same, if one is missing, or if one is much shorter than a tile.
    """
    read, written = layout.strides
    if 1 not in read or 1 not in written:
        return None
    row, column = read.index(1), written.index(1)
    if row == column or min(layout.shape[row], layout.shape[column]) < side // 4:
        return None
    return row, column


SPECIAL_CASES["copy"] = copy
