"""The positions of nonzero elements: a scan counts them, and each count is a position.

The number of nonzero elements determines how much memory the positions take. So the host waits for
that number, the last of the counts, and for nothing else.
"""

from __future__ import annotations

import numpy as np

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.elements import load, operand
from mt_cuda.core.kernel import Kernel, define, indented, numbers, over_grid
from mt_cuda.core.layout import index_type, size_names, take_apart, wide_suffix
from mt_cuda.rows.kernels import RowLayout
from mt_cuda.scans.kernels import Scan, run, total_type
from mt_cuda.tensors import elements_of, ops_of, planned_over_grid, tensor_of
from mt_tensor import DType, Tensor, TensorData, int64


def counts(dtype: DType) -> Scan:
    """Return the scan that counts nonzero elements; nan is nonzero."""
    element = ("int64(1) if {x0} != 0 else int64(0)",)
    return Scan("count", (int64,), ("0",), ("return a0 + b0",), (dtype,), element, ((int64, 0),))


def coordinates(dtype: DType, rank: int, index: str) -> Kernel:
    """Return the kernel that stores the coordinates of every nonzero element.

    Args:
        dtype: the dtype of the elements.
        rank: the number of dimensions, each of which has a row of `found` positions.
        index: the integer type of index arithmetic.
    """
    store = [f"out[out_at + {d} * found + place] = c{d}" for d in range(rank)]
    element = [
        f"if {load('x[x_at + i]', dtype, total_type(dtype))} != 0:",
        "    place = counts[counts_at + i] - 1",
        *indented([*take_apart("i", size_names(rank), index), *store]),
    ]
    parameters = [
        *numbers("n", *size_names(rank), "found"),
        *operand("x", dtype),
        *operand("counts", int64),
        *operand("out", int64),
    ]
    name = f"coordinates_{dtype.name}_{rank}{wide_suffix(index)}"
    return define(name, parameters, over_grid(element))


def nonzero(ops: CudaOps, x: TensorData) -> TensorData:
    """Return the coordinates of nonzero elements of a contiguous view that is not a scalar.

    Returns:
        int64, of shape (dimensions, nonzero elements).
    """
    shape, size = x.shape, x.size
    counted = ops.empty((size,), int64)
    run(ops, counts(x.dtype), RowLayout(1, size), [x], [counted])
    found = int(ops.to_host(counted.like((1,), (1,), size - 1))[0]) if size else 0
    out = ops.empty((len(shape), found), int64)
    if found:
        recipe = (coordinates, x.dtype, len(shape), index_type(size))
        plan = planned_over_grid(ops, recipe, size, shape[1:])
        ops.launch(plan, (x, counted, out), (np.int64(found),))
    return out


def nonzero_of(x: Tensor) -> Tensor:
    """Return the coordinates of nonzero elements, one row per dimension; 0-D counts as 1-D."""
    data = elements_of(x)
    return tensor_of(nonzero(ops_of(x), data if x.ndim else data.like((1,), (1,), data.offset)), x)


KERNELS = {"nonzero": nonzero_of}
"""For `mt_tensor.extending.register_kernels`."""
