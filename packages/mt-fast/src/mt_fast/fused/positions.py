"""Argmax and argmin along a dimension.

Along the last dimension NumPy is as fast. Along others, a reduction finds the extreme values, and a
kernel their positions: adjacent rows are searched together, from the last to the first, so that the
first position that holds the value, or nan, remains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.loops import KERNEL_FROM
from mt_fast.core.tables import empty
from mt_fast.memory.arrays import array_of, pieces_of, shared, tensor_of
from mt_operators import OPERATORS
from mt_tensor import Tensor, TensorData, bool_
from mt_tensor.backends.extending import row_major
from mt_tensor.core.kernels import registered_kernel

COLUMNS = 512
"""The number of adjacent elements to search at a time."""


def _first_of_rows(lo: Any, hi: Any, x: Any, extremes: Any, out: Any) -> None:
    """Write the first positions in an array of shape (outer, size, inner)."""
    inner = x.shape[2]
    blocks = (inner + COLUMNS - 1) // COLUMNS
    for unit in range(lo, hi):
        i, start = unit // blocks, unit % blocks * COLUMNS
        end = min(start + COLUMNS, inner)
        values, positions = extremes[i, start:end], out[i, start:end]
        for j in range(x.shape[1] - 1, -1, -1):
            row = x[i, j, start:end]
            for n in range(row.size):
                positions[n] = j if row[n] == values[n] or row[n] != row[n] else positions[n]


_OF_ROWS = Kernel.of(_first_of_rows)


def _position(name: str, operator: str) -> Callable[..., Tensor]:
    """Return the kernel that finds the first position of the extreme that an operator selects."""
    chosen, by_numpy = OPERATORS[operator], registered_kernel("numpy", name)

    def kernel(x: Tensor, dim: int) -> Tensor:
        layout, parallel = x._tensor.layout, shared(x.numel(), x)
        use_numpy = layout.size < KERNEL_FROM or layout.dtype.is_narrow or layout.dtype is bool_
        if use_numpy or dim == x.ndim - 1:
            return by_numpy(x, dim)  # type: ignore[no-any-return]
        array = array_of(x)
        pieces = pieces_of(array, dim)
        outer, _, inner = pieces.shape
        row = TensorData.of(array, row_major(x.shape, x.dtype))
        extremes = x.backend.reduce(chosen, row, (dim,), True).array.reshape(outer, inner)
        out = empty((*x.shape[:dim], 1, *x.shape[dim + 1 :]), np.int64)
        positions = out.reshape(outer, inner)
        _OF_ROWS.run(outer * -(-inner // COLUMNS), parallel, pieces, extremes, positions)
        return tensor_of(out, x)

    return kernel


ARGMAX, ARGMIN = _position("argmax", "maximum"), _position("argmin", "minimum")
