"""Multiply matrices: floats with BLAS, integers with `multiply_row`.

NumPy passes float32 and float64 matrices to BLAS if one of their last two dimensions is contiguous.
Other matrices are copied first, which is faster than NumPy's fallback loop.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.loops import CACHE_SIZE
from mt_fast.core.parallel_loops import multiply_row
from mt_fast.core.tables import SPECIAL_CASES
from mt_tensor import TensorData
from mt_tensor.core.dtypes import Array
from mt_tensor.core.host import no_warnings
from mt_tensor.core.layout import Layout, row_major

LARGE = 2**19
"""The number of multiplications from which a registered kernel is considered: below, BLAS is
faster, on one thread."""


@functools.lru_cache(CACHE_SIZE)
def planned(left: Layout, right: Layout) -> Callable[[TensorData, TensorData], TensorData]:
    """Return the cached function that multiplies views of floats of these layouts."""
    rows, columns, dtype = left.shape, right.shape, left.dtype
    result = row_major((*rows[:-1], columns[-1]), dtype)

    def small(a: TensorData, b: TensorData) -> TensorData:
        return TensorData.of(no_warnings().run(a.array.dot, b.array), result)

    def general(a: TensorData, b: TensorData) -> TensorData:
        array = matmul_floats(a.array, b.array)
        return TensorData.of(array, row_major(array.shape, dtype))

    fits = left.size * columns[-1] < LARGE and len(rows) <= 2 and len(columns) == 2
    return small if fits else general


def matmul_floats(a: Array, b: Array) -> Array:
    """Multiply matrices or vectors of floats, and return a new contiguous array."""
    if a.size * b.shape[-1] >= LARGE and "matmul" in SPECIAL_CASES:
        product: Array | None = SPECIAL_CASES["matmul"](a, b)
        if product is not None:
            return product
    if a.ndim <= 2 and b.ndim <= 2:
        return np.asarray(no_warnings().run(a.dot, b))  # supports more layouts, with less overhead
    return np.asarray(no_warnings().run(np.matmul, _for_blas(a), _for_blas(b)), order="C")


def _for_blas(array: Array) -> Array:
    """Return the array, or a copy if neither rows nor columns are contiguous."""
    steps = array.strides[-2:]
    fits = array.ndim < 2 or (array.itemsize in steps and min(steps) > 0)
    return array if fits else np.ascontiguousarray(array)


def _rows(lo: Any, hi: Any, a: Any, b: Any, out: Any) -> None:
    """Compute rows `lo` to `hi` of the products of all batches."""
    for row in range(lo, hi):
        multiply_row(row, a, b, out)


_ROWS = Kernel.of(_rows)


def matmul_integers(a: Array, b: Array, parallel: bool) -> Array:
    """Multiply matrices of integers of shapes (*batch, n, m) and (*batch, m, k)."""
    out: Array = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype)
    if out.size:
        batch = math.prod(out.shape[:-2])
        matrices = [
            np.ascontiguousarray(array).reshape(batch, *array.shape[-2:]) for array in (a, b, out)
        ]
        _ROWS.run(batch * out.shape[-2], parallel, *matrices)
    return out
