"""Matrix products: of floats by BLAS or, if they are large, by `gemm.py`; of integers by a loop.

The last primitive: which of three ways a product is computed in. NumPy hands float32 and float64
matrices to BLAS if one of their two dimensions is contiguous; others are copied first, which costs
less than NumPy's own loop.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_fast.compilation.kernel import Kernel
from mt_fast.matrices import gemm
from mt_fast.primitives import movement
from mt_tensor import TensorData
from mt_tensor.backends.extending import quiet, row_major
from mt_tensor.extending import as_dtype

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
    if (
        a.ndim == b.ndim > 1
        and a.shape[:-2] == b.shape[:-2]
        and gemm.pays(math.prod(a.shape[:-2]), a.shape[-2], a.shape[-1], b.shape[-1])
        and _in_lines(a)
        and _in_lines(b)
    ):
        large = _bytes_of_one(a) > TRANSPOSED_BYTES or gemm.packs_again(b)
        is_transposed = a.strides[-1] != a.itemsize
        return gemm.multiply(_straightened(a) if is_transposed and large else a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return np.asarray(quiet().run(a.dot, b))  # which knows more layouts, and starts faster
    return np.asarray(quiet().run(np.matmul, _for_blas(a), _for_blas(b)), order="C")


def _in_lines(array: Array) -> bool:
    """Whether elements of rows, or of columns, lie side by side, and nothing runs backwards."""
    width = array.itemsize
    rows, columns = array.strides[-2:]
    return min(array.strides) >= 0 and (
        (columns == width and rows >= width * array.shape[-1])
        or (rows == width and columns >= width * array.shape[-2])
    )


def _bytes_of_one(matrices: Array) -> int:
    rows, columns = matrices.shape[-2:]
    return int(rows * columns * matrices.itemsize)


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
    return array if array.ndim < 2 or _in_lines(array) else np.ascontiguousarray(array)


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
