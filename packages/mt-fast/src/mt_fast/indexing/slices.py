"""Gather and scatter of whole slices along a dimension.

A contiguous tensor is seen as (outer, size, inner): a slice along the middle dimension has `outer`
pieces of `inner` contiguous elements. Several numbers of an index may name one slice, so threads
cannot share the index: each adds to its own pieces, in the order of the index.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mt_fast.core import movement
from mt_fast.core.kernel import Kernel
from mt_fast.core.tables import SPECIAL_CASES, empty
from mt_tensor import TensorData
from mt_tensor.backends.extending import Layout, row_major
from mt_tensor.extending import Shape, size_of

# --- Kernels: the numbers of single elements are unsigned, and so not tested for their sign -------


def _read_elements(lo: Any, hi: Any, source: Any, numbers: Any, out: Any) -> None:
    """Write the elements that numbers name, of arrays of shape (outer, size)."""
    for i in range(lo, hi):
        row, result = source[i], out[i]
        for j in range(numbers.size):
            result[j] = row[numbers[j]]


def _read_pieces(lo: Any, hi: Any, source: Any, numbers: Any, out: Any) -> None:
    """Write the pieces that numbers name, of arrays of shape (outer, size, inner)."""
    count = numbers.size
    for unit in range(lo, hi):
        i, j = unit // count, unit % count
        piece, result = source[i, numbers[j]], out[i, j]
        for k in range(result.size):
            result[k] = piece[k]


def _add_elements(lo: Any, hi: Any, source: Any, numbers: Any, out: Any) -> None:
    """Add elements to those that numbers name, of arrays of shape (outer, size)."""
    for i in range(lo, hi):
        row, result = source[i], out[i]
        for j in range(numbers.size):
            result[numbers[j]] += row[j]


def _add_pieces(lo: Any, hi: Any, source: Any, numbers: Any, out: Any) -> None:
    """Add pieces to the pieces `lo` to `hi` of those that numbers name."""
    size = out.shape[1]
    for i in range(lo // size, (hi + size - 1) // size):
        first, end = max(lo - i * size, 0), min(hi - i * size, size)
        for j in range(numbers.size):
            number = numbers[j]
            if first <= number < end:
                piece, result = source[i, j], out[i, number]
                for k in range(result.size):
                    result[k] += piece[k]


_READ_ELEMENTS, _READ_PIECES = Kernel.of(_read_elements), Kernel.of(_read_pieces)
_ADD_ELEMENTS, _ADD_PIECES = Kernel.of(_add_elements), Kernel.of(_add_pieces)

# --- On views -------------------------------------------------------------------------------------


@functools.lru_cache(1024)
def _are_named(data: Layout, dim: int, index: Layout) -> bool:
    """Whether an index, which is not empty, names whole slices of a view."""
    shape, strides = index.shape, index.strides
    if strides[dim] != 1 or any(strides[:dim]) or any(strides[dim + 1 :]):
        return False
    return shape[:dim] == data.shape[:dim] and shape[dim + 1 :] == data.shape[dim + 1 :]


def _numbers(dim: int, index: TensorData) -> Any:
    """Return the numbers of the slices that an index names."""
    offset = index.layout.offset
    return index.storage[offset : offset + index.layout.shape[dim]]


def gather_slices(
    source: TensorData, dim: int, index: TensorData, parallel: bool
) -> TensorData | None:
    """Return the slices of a view that an index names; None if it does not name whole slices."""
    if not _are_named(source.layout, dim, index.layout):
        return None
    source = _contiguous(source, parallel)
    row, dtype, shape = _numbers(dim, index), source.layout.dtype, index.layout.shape
    bits = movement.BITS[dtype.itemsize]
    pieces = _pieces(source, dim).view(bits)
    out = empty((pieces.shape[0], row.size, *pieces.shape[2:]), bits)
    if pieces.ndim == 2:
        _READ_ELEMENTS.run(len(pieces), parallel, pieces, row.view(np.uint64), out)
    else:
        _READ_PIECES.run(len(pieces) * row.size, parallel, pieces, row, out)
    return TensorData.of(out.view(dtype.numpy).reshape(shape), row_major(shape, dtype))


def add_slices(
    source: TensorData, dim: int, index: TensorData, out: TensorData, parallel: bool
) -> bool:
    """Add slices to those that an index names; return False if it does not name whole slices."""
    if not (out.layout.row_major and _are_named(out.layout, dim, index.layout)):
        return False
    source = _contiguous(source, parallel)
    row = _numbers(dim, index)
    parts, sums = _pieces(source, dim), _pieces(out, dim)
    if sums.ndim == 2:
        _ADD_ELEMENTS.run(len(sums), parallel, parts, row.view(np.uint64), sums)
    else:
        _ADD_PIECES.run(sums.shape[0] * sums.shape[1], parallel, parts, row, sums)
    return True


def _contiguous(data: TensorData, parallel: bool) -> TensorData:
    """Return a view as contiguous rows: itself, or a copy."""
    if data.layout.row_major:
        return data
    out = TensorData(empty(data.size, data.dtype.numpy), data.shape, dtype=data.dtype)
    movement.copy(data, out, parallel)
    return out


def _pieces(data: TensorData, dim: int) -> Any:
    """Return a contiguous view as an array of shape (outer, size, inner); see below."""
    return data.array.reshape(_shape_of_pieces(data.layout.shape, dim))


@functools.lru_cache(1024)
def _shape_of_pieces(shape: Shape, dim: int) -> Shape:
    """Return the shape (outer, size, inner) that a contiguous view is seen in.

    Where slices have pieces of one element, it is (outer, size).
    """
    outer, inner = size_of(shape[:dim]), size_of(shape[dim + 1 :])
    return (outer, shape[dim]) if inner == 1 else (outer, shape[dim], inner)


SPECIAL_CASES.update(gather=gather_slices, scatter_add=add_slices)
