"""The loops of the MiniTorch course: those of the backend `simple`, compiled and parallel.

`tensor_map`, `tensor_zip` and `tensor_reduce` are the functions of `mt_tensor.core.simple`,
compiled by Numba; `prange` distributes the iterations of a loop over threads. Compiled code
supports numbers and arrays but no tensors, so a loop takes the storage, strides and offset of each.
The backend also multiplies integer matrices with `multiply_row`.

The other loops have two costs that the rest of the core removes. They compute the index of each
element, with a division per dimension, although most tensors are contiguous. And they apply one
operator at a time, so that every step of a formula reads and writes memory. The next files generate
a loop for each *formula* and each form of *layout* instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, prange

from mt_tensor import TensorData


@njit
def to_index(ordinal: Any, shape: Any) -> Any:
    """Return the index of element number `ordinal` in row-major order."""
    index = np.empty(len(shape), np.int64)
    for d in range(len(shape) - 1, -1, -1):
        index[d] = ordinal % shape[d]
        ordinal //= shape[d]
    return index


@njit
def index_to_position(index: Any, strides: Any, offset: Any) -> Any:
    """Return the position in the storage of the element at an index."""
    position = offset
    for d in range(len(strides)):
        position += index[d] * strides[d]
    return position


def tensor_map(fn: Callable[[Any], Any]) -> Callable[[TensorData, TensorData], None]:
    """Apply a function of one scalar, compiled by Numba, elementwise.

    For each index, on all threads: `out[index] = fn(source[index])`.
    """
    fn = njit(fn)

    @njit(parallel=True)
    def loop(
        source: Any, strides: Any, offset: Any, out: Any, to: Any, start: Any, shape: Any
    ) -> None:
        for ordinal in prange(shape.prod()):
            index = to_index(ordinal, shape)
            value = source[index_to_position(index, strides, offset)]
            out[index_to_position(index, to, start)] = fn(value)

    def run(source: TensorData, out: TensorData) -> None:
        loop(*_parts(source), *_parts(out), np.array(out.shape, np.int64))

    run.loop = loop  # type: ignore[attr-defined] # for its diagnostics
    return run


def tensor_zip(
    fn: Callable[[Any, Any], Any],
) -> Callable[[TensorData, TensorData, TensorData], None]:
    """Apply a function of two scalars, compiled by Numba, elementwise to tensors of one shape.

    For each index, on all threads: `out[index] = fn(a[index], b[index])`.
    """
    fn = njit(fn)

    @njit(parallel=True)
    def loop(
        a: Any, a_strides: Any, a_offset: Any, b: Any, b_strides: Any, b_offset: Any,
        out: Any, to: Any, start: Any, shape: Any,
    ) -> None:  # fmt: skip
        for ordinal in prange(shape.prod()):
            index = to_index(ordinal, shape)
            x = a[index_to_position(index, a_strides, a_offset)]
            y = b[index_to_position(index, b_strides, b_offset)]
            out[index_to_position(index, to, start)] = fn(x, y)

    def run(a: TensorData, b: TensorData, out: TensorData) -> None:
        loop(*_parts(a), *_parts(b), *_parts(out), np.array(out.shape, np.int64))

    run.loop = loop  # type: ignore[attr-defined]
    return run


def tensor_reduce(
    fn: Callable[[Any, Any], Any], start: Any
) -> Callable[[TensorData, TensorData, int], None]:
    """Reduce one dimension with a function of two scalars; the dimension is kept with size 1.

    Along the dimension, for each index of `out`, on all threads:
    `out[index] = fn(fn(start, source[first]), source[second]) ...`
    """
    fn = njit(fn)

    @njit(parallel=True)
    def loop(
        source: Any, strides: Any, offset: Any, out: Any, to: Any, begin: Any, shape: Any,
        size: Any, step: Any,
    ) -> None:  # fmt: skip
        for ordinal in prange(shape.prod()):
            index = to_index(ordinal, shape)
            first = index_to_position(index, strides, offset)
            total = start
            for i in range(size):
                total = fn(total, source[first + i * step])
            out[index_to_position(index, to, begin)] = total

    def run(source: TensorData, out: TensorData, dim: int) -> None:
        along = source.shape[dim], source.strides[dim]
        loop(*_parts(source), *_parts(out), np.array(out.shape, np.int64), *along)

    run.loop = loop  # type: ignore[attr-defined]
    return run


@njit
def multiply_row(row: Any, a: Any, b: Any, out: Any) -> None:
    """Compute row `row` of the products of all batches."""
    rows, columns = out.shape[1:]
    batch, i = row // rows, row % rows
    total = out[batch, i]
    for k in range(columns):
        total[k] = 0
    for j in range(a.shape[2]):
        factor, line = a[batch, i, j], b[batch, j]
        for k in range(columns):
            total[k] += factor * line[k]


@njit(parallel=True)
def _products(a: Any, b: Any, out: Any) -> None:
    for row in prange(out.shape[0] * out.shape[1]):
        multiply_row(row, a, b, out)


def tensor_matrix_multiply(a: TensorData, b: TensorData, out: TensorData) -> None:
    """Multiply matrices, one row of the result at a time.

    For each batch and i, on all threads:
        out[batch, i, :] = sum over j of a[batch, i, j] * b[batch, j, :]

    The innermost loop runs along rows of `b` and `out`, whose elements are usually neighbors in
    memory. Numba compiles the loop separately for contiguous arrays, and vectorizes it for them.

    Args:
        a: shape (batch, n, m); a batch that is broadcast has stride 0.
        b: shape (batch, m, k).
        out: shape (batch, n, k).
    """
    _products(a.array, b.array, out.array)


tensor_matrix_multiply.loop = _products  # type: ignore[attr-defined]


def _parts(data: TensorData) -> tuple[Any, Any, int]:
    """Return the arguments of a loop for a tensor: storage, strides and offset."""
    return data.storage, np.array(data.strides, np.int64), data.offset
