"""The course's exercise: the loops of `simple`, compiled and on all threads.

Read it before the lesson. The backend generates its kernels, for speed. These here are written by
hand, to be read: `tensor_map`, `tensor_zip` and `tensor_reduce` do what their namesakes in
`mt_tensor.backends.simple` do, but Numba compiles them, and `prange` is a range whose iterations
threads share. `_launch` starts the threads (`threads/workers.py`, which is read later).
`hatch run mt parallel-check` shows what Numba has made of these loops.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, prange

from mt_fast.threads.workers import start_threads, work_lock
from mt_tensor import TensorData


@njit
def to_index(ordinal: Any, shape: Any) -> Any:
    """Return the index of the element that comes `ordinal`-th in row-major order."""
    index = np.empty(len(shape), np.int64)
    for d in range(len(shape) - 1, -1, -1):
        index[d] = ordinal % shape[d]
        ordinal //= shape[d]
    return index


@njit
def index_to_position(index: Any, strides: Any, offset: Any) -> Any:
    """Return where in the storage the element at an index lies."""
    position = offset
    for d in range(len(strides)):
        position += index[d] * strides[d]
    return position


def tensor_map(fn: Callable[[Any], Any]) -> Callable[[TensorData, TensorData], None]:
    """Lift a function of one scalar, which Numba can compile, to tensors of one shape.

    for each index, on all threads:
        out[index] = fn(source[index])
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
        _launch(loop, *_parts(source), *_parts(out), np.array(out.shape, np.int64))

    run.loop = loop  # type: ignore[attr-defined] # for its diagnostics
    return run


def tensor_zip(
    fn: Callable[[Any, Any], Any],
) -> Callable[[TensorData, TensorData, TensorData], None]:
    """Lift a function of two scalars to tensors of one shape, broadcast before.

    for each index, on all threads:
        out[index] = fn(a[index], b[index])
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
        _launch(loop, *_parts(a), *_parts(b), *_parts(out), np.array(out.shape, np.int64))

    run.loop = loop  # type: ignore[attr-defined]
    return run


def tensor_reduce(
    fn: Callable[[Any, Any], Any], start: Any
) -> Callable[[TensorData, TensorData, int], None]:
    """Lift a function of two scalars to a fold over one dimension, which stays with extent 1.

    for each index of out, on all threads:
        out[index] = fn(fn(start, source[first]), source[second]) ... along the dimension
    """
    fn = njit(fn)

    @njit(parallel=True)
    def loop(
        source: Any, strides: Any, offset: Any, out: Any, to: Any, begin: Any, shape: Any,
        extent: Any, step: Any,
    ) -> None:  # fmt: skip
        for ordinal in prange(shape.prod()):
            index = to_index(ordinal, shape)
            first = index_to_position(index, strides, offset)
            total = start
            for i in range(extent):
                total = fn(total, source[first + i * step])
            out[index_to_position(index, to, begin)] = total

    def run(source: TensorData, out: TensorData, dim: int) -> None:
        along = source.shape[dim], source.strides[dim]
        _launch(loop, *_parts(source), *_parts(out), np.array(out.shape, np.int64), *along)

    run.loop = loop  # type: ignore[attr-defined]
    return run


@njit(parallel=True)
def _products(
    a: Any, a_strides: Any, a_offset: Any, b: Any, b_strides: Any, b_offset: Any,
    out: Any, to: Any, start: Any, shape: Any, inner: Any,
) -> None:  # fmt: skip
    for ordinal in prange(shape.prod()):
        batch, i, k = to_index(ordinal, shape)
        first = a_offset + batch * a_strides[0] + i * a_strides[1]
        second = b_offset + batch * b_strides[0] + k * b_strides[2]
        total = 0.0
        for j in range(inner):
            total += a[first + j * a_strides[2]] * b[second + j * b_strides[1]]
        out[start + batch * to[0] + i * to[1] + k * to[2]] = total


def tensor_matrix_multiply(a: TensorData, b: TensorData, out: TensorData) -> None:
    """Multiply matrices, without a call, a buffer or an index in the inner loop.

    for each batch, i and k, on all threads:
        out[batch, i, k] = sum over j of a[batch, i, j] * b[batch, j, k]

    Args:
        a: shape (batch, n, m); a batch that is broadcast has stride 0.
        b: shape (batch, m, k).
        out: shape (batch, n, k).
    """
    shape = np.array(out.shape, np.int64)
    _launch(_products, *_parts(a), *_parts(b), *_parts(out), shape, a.shape[2])


tensor_matrix_multiply.loop = _products  # type: ignore[attr-defined]


def _parts(data: TensorData) -> tuple[Any, Any, int]:
    """Return what loops take of a tensor: storage, strides and offset."""
    return data.storage, np.array(data.strides, np.int64), data.offset


def _launch(loop: Callable[..., None], *arguments: Any) -> None:
    """Run a loop on all threads."""
    start_threads()
    with work_lock() or contextlib.nullcontext():
        loop(*arguments)
