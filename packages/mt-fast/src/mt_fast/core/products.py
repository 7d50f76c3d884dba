"""Multiply matrices: floats with BLAS, integers with the loop of the course.

NumPy passes float32 and float64 matrices to BLAS if one of their last two dimensions is contiguous.
Others are copied first, which costs less than NumPy's own loop.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.parallel_loops import multiply_row
from mt_fast.core.tables import SPECIAL_CASES
from mt_tensor.core.dtypes import Array
from mt_tensor.core.host import no_warnings
from mt_tensor.core.strides import Shape


def of_floats(a: Array, b: Array) -> Array:
    """Return the product of matrices or vectors of floats as a new contiguous array."""
    special = SPECIAL_CASES.get("matmul")
    product: Array | None = special(a, b) if special is not None else None
    if product is not None:
        return product
    if a.ndim <= 2 and b.ndim <= 2:
        return np.asarray(
            no_warnings().run(a.dot, b)
        )  # which knows more layouts, and starts faster
    return np.asarray(no_warnings().run(np.matmul, _for_blas(a), _for_blas(b)), order="C")


def in_lines(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether elements of rows, or of columns, are neighbors, and no dimension is reversed."""
    rows, columns = strides[-2:]
    return min(strides) >= 0 and (
        (columns == itemsize and rows >= itemsize * shape[-1])
        or (rows == itemsize and columns >= itemsize * shape[-2])
    )


def _for_blas(array: Array) -> Array:
    """Return the array, or a copy if neither of its last two dimensions is contiguous."""
    if array.ndim < 2 or in_lines(array.shape, array.strides, array.itemsize):
        return array
    return np.ascontiguousarray(array)


def _rows(lo: Any, hi: Any, a: Any, b: Any, out: Any) -> None:
    """Compute rows `lo` to `hi` of the products of all batches."""
    for row in range(lo, hi):
        multiply_row(row, a, b, out)


@functools.cache
def _rows_kernel() -> Kernel:
    return Kernel.of(_rows)


def of_integers(a: Array, b: Array, out: Array, parallel: bool) -> None:
    """Write the product of matrices of integers.

    Args:
        a: shape (*batch, n, m), contiguous.
        b: shape (*batch, m, k), contiguous.
        out: shape (*batch, n, k), contiguous.
        parallel: whether to use all threads.
    """
    if out.size:
        batch = math.prod(out.shape[:-2])
        arrays = [array.reshape(batch, *array.shape[-2:]) for array in (a, b, out)]
        _rows_kernel().run(batch * out.shape[-2], parallel, *arrays)
