"""Matrix products: of floats by BLAS or, if they are large, by `gemm.py`; of integers by a loop.

The last primitive: which of three ways a product is computed in. NumPy hands float32 and float64
matrices to BLAS if one of their two dimensions is contiguous; others are copied first, which costs
less than NumPy's own loop.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_fast.core import movement
from mt_fast.core.kernel import Kernel
from mt_fast.gemm import gemm
from mt_tensor import TensorData
from mt_tensor.backends.extending import quiet, row_major
from mt_tensor.extending import Shape, as_dtype

Array = npt.NDArray[Any]

TRANSPOSED_BYTES = 2**22
"""How large a first factor may be that tiles read down its columns: in a larger one, each element
is on another page of memory than the one before. Nor may the second have more columns than a panel,
for with each panel those of the first would be packed once more."""


def of_integers(a: Array, b: Array, parallel: bool) -> Array:
    """Return the product of matrices of integers, in the last two dimensions.

    Args:
        a: shape (*batch, n, m).
        b: shape (*batch, m, k), of the same dtype.
        parallel: whether to use all threads.
    """
    n, m, k = a.shape[-2], a.shape[-1], b.shape[-1]
    product = np.zeros((*a.shape[:-1], k), a.dtype)
    batches = product.size // (n * k) if n and k else 0
    if batches and m:
        left = np.ascontiguousarray(a).reshape(batches, n, m)
        right = np.ascontiguousarray(b).reshape(batches, m, k)
        _ROWS.run(batches * n, parallel, left, right, product.reshape(batches, n, k))
    return product


def product(a: Array, b: Array) -> Array:
    """Return the product of matrices or vectors of floats as a new contiguous array."""
    if a.ndim == b.ndim > 1:
        straightened = _before_tiles(a.shape, a.strides, b.shape, b.strides, a.itemsize)
        if straightened is not None:
            return gemm.multiply(_straightened(a) if straightened else a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return np.asarray(quiet().run(a.dot, b))  # which knows more layouts, and starts faster
    return np.asarray(quiet().run(np.matmul, _for_blas(a), _for_blas(b)), order="C")


@functools.lru_cache(512)
def _before_tiles(
    shape_a: Shape, strides_a: Shape, shape_b: Shape, strides_b: Shape, itemsize: int
) -> bool | None:
    """Return whether to straighten the first factor for tiles; None if BLAS takes less time.

    The strides are in bytes.
    """
    (n, m), k, outer = shape_a[-2:], shape_b[-1], shape_a[:-2]
    if (
        outer != shape_b[:-2]
        or not gemm.pays(math.prod(outer), n, m, k)
        or not _in_lines(shape_a, strides_a, itemsize)
        or not _in_lines(shape_b, strides_b, itemsize)
    ):
        return None
    is_large = n * m * itemsize > TRANSPOSED_BYTES or gemm.packs_again(m, k, itemsize)
    return is_large and strides_a[-1] != itemsize


def _in_lines(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether elements of rows, or of columns, lie side by side, and nothing runs backwards."""
    rows, columns = strides[-2:]
    return min(strides) >= 0 and (
        (columns == itemsize and rows >= itemsize * shape[-1])
        or (rows == itemsize and columns >= itemsize * shape[-2])
    )


def _straightened(array: Array) -> Array:
    """Return a contiguous copy of matrices whose columns are lines of memory."""
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


def _for_blas(array: Array) -> Array:
    """Return the array, or a copy if neither of its last two dimensions is contiguous."""
    if array.ndim < 2 or _in_lines(array.shape, array.strides, array.itemsize):
        return array
    return np.ascontiguousarray(array)


def _rows(lo: Any, hi: Any, a: Any, b: Any, out: Any) -> None:
    """Compute rows `lo` to `hi` of the products of all batches; `out` is zero before."""
    n = a.shape[1]
    for row in range(lo, hi):
        batch = row // n
        i = row - batch * n
        total = out[batch, i]
        for j in range(a.shape[2]):
            factor = a[batch, i, j]
            line = b[batch, j]
            for k in range(line.size):
                total[k] += factor * line[k]


_ROWS = Kernel.of(_rows)
