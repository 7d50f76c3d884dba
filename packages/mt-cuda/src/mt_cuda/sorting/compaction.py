"""Where elements are not zero: they are counted by a scan, and then each knows its place.

How many there are decides how much memory the places take. So the host waits for that number, the
last of the counts, and for nothing else.
"""

from __future__ import annotations

import numpy as np

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import load, operand
from mt_cuda.core.kernel import Kernel, define, indented, numbers, over_grid
from mt_cuda.core.layout import index_type, size_names, take_apart, wide_suffix
from mt_cuda.rows.kernels import RowLayout
from mt_cuda.scans.kernels import Scan, run, total_type
from mt_cuda.tensors import elements_of, ops_of, tensor_of
from mt_tensor import DType, Tensor, TensorData, int64


def counts(dtype: DType) -> Scan:
    """Return the scan that counts elements that are not zero; nan is not zero."""
    element = ("int64(1) if {x0} != 0 else int64(0)",)
    return Scan("count", (int64,), ("0",), ("return a0 + b0",), (dtype,), element, ((int64, 0),))


def coordinates(dtype: DType, rank: int, index: str) -> Kernel:
    """Return the kernel that stores the coordinates of every element that is not zero.

    Args:
        dtype: the element type.
        rank: the number of dimensions, for each of which there is a row of `found` places.
        index: the type in which positions are taken apart.
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
    """Return the coordinates of what is not zero in a contiguous view of at least one dimension.

    Returns:
        int64, a row for each dimension.
    """
    shape, size = x.shape, x.size
    counted = ops.empty((size,), int64)
    run(ops, counts(x.dtype), RowLayout(1, size), [x], [counted])
    found = int(ops.to_host(counted.like((1,), (1,), size - 1))[0]) if size else 0
    out = ops.empty((len(shape), found), int64)
    if found:

        def plan() -> Plan:
            kernel = coordinates(x.dtype, len(shape), index_type(size))
            return ops.plan_over_grid(kernel, size, shape[1:])

        ready = ops.remembered(("nonzero", x.dtype, shape), plan)
        ops.launch(ready, (x, counted, out), (np.int64(found),))
    return out


def nonzero_of(x: Tensor) -> Tensor:
    """Return a row of coordinates for each dimension; a number is a vector of one."""
    data = elements_of(x)
    return tensor_of(nonzero(ops_of(x), data if x.ndim else data.like((1,), (1,), data.offset)), x)


KERNELS = {"nonzero": nonzero_of}
"""For `mt_tensor.extending.register_kernels`."""
