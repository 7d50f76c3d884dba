"""Choose between tiles and BLAS for a product, and prepare the factors."""

from __future__ import annotations

import functools
import math

import numpy as np

from mt_fast.core import movement
from mt_fast.core.tables import SPECIAL_CASES
from mt_fast.gemm import gemm
from mt_tensor import TensorData
from mt_tensor.backends.extending import row_major
from mt_tensor.extending import Array, Shape, as_dtype

TRANSPOSED_BYTES = 2**22
"""The largest transposed first factor that tiles read down its columns: in a larger one, each
element is on another memory page than the one before. The second factor must fit in one panel,
since the first is packed again for each panel."""


def in_lines(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Return whether rows or columns are contiguous, and no dimension is reversed."""
    rows, columns = strides[-2:]
    return min(strides) >= 0 and (
        (columns == itemsize and rows >= itemsize * shape[-1])
        or (rows == itemsize and columns >= itemsize * shape[-2])
    )


def by_tiles(a: Array, b: Array) -> Array | None:
    """Return the product of matrices of floats; None if BLAS is faster."""
    if not a.ndim == b.ndim > 1:
        return None
    straightened = _before_tiles(a.shape, a.strides, b.shape, b.strides, a.itemsize)
    if straightened is None:
        return None
    return gemm.multiply(_straightened(a) if straightened else a, b)


@functools.lru_cache(512)
def _before_tiles(
    shape_a: Shape, strides_a: Shape, shape_b: Shape, strides_b: Shape, itemsize: int
) -> bool | None:
    """Return whether to transpose the memory of the first factor; None if BLAS is faster.

    The strides are in bytes.
    """
    (n, m), k, outer = shape_a[-2:], shape_b[-1], shape_a[:-2]
    if (
        outer != shape_b[:-2]
        or not gemm.pays(math.prod(outer), n, m, k)
        or not in_lines(shape_a, strides_a, itemsize)
        or not in_lines(shape_b, strides_b, itemsize)
    ):
        return None
    is_large = n * m * itemsize > TRANSPOSED_BYTES or gemm.packs_again(m, k, itemsize)
    return is_large and strides_a[-1] != itemsize


def _straightened(array: Array) -> Array:
    """Return a C-contiguous copy of matrices with contiguous columns."""
    if not array.swapaxes(-1, -2).flags.c_contiguous:
        return np.ascontiguousarray(array)
    dtype, transposed = as_dtype(array.dtype), array.swapaxes(-1, -2)
    *outer, rows, columns = range(array.ndim)
    source = TensorData.of(transposed, row_major(transposed.shape, dtype)).permute(
        *outer, columns, rows
    )
    out = np.empty(array.shape, array.dtype)
    movement.copy(source, TensorData.of(out, row_major(out.shape, dtype)), True)
    return out


SPECIAL_CASES["matmul"] = by_tiles
