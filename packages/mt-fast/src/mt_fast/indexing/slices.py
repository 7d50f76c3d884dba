"""Gather and scatter of whole slices along a dimension.

A contiguous tensor is seen as (outer, size, inner): a slice along the middle dimension has `outer`
pieces of `inner` contiguous elements. An index may name a slice several times, so threads cannot
share the index: each thread adds to its own pieces, in the order of the index.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from mt_fast.core import movement
from mt_fast.core.kernel import Kernel
from mt_fast.core.tables import SPECIAL_CASES, empty
from mt_fast.small import SMALL
from mt_tensor import TensorData
from mt_tensor.backends.extending import Layout, row_major
from mt_tensor.extending import Shape, size_of

# --- Kernels: unsigned indices of single elements are not tested for negative values --------------


def _read_elements(lo: Any, hi: Any, source: Any, indices: Any, out: Any) -> None:
    """Write the indexed elements of an array of shape (outer, size)."""
    for i in range(lo, hi):
        row, result = source[i], out[i]
        for j in range(indices.size):
            result[j] = row[indices[j]]


def _read_pieces(lo: Any, hi: Any, source: Any, indices: Any, out: Any) -> None:
    """Write the indexed pieces of an array of shape (outer, size, inner)."""
    count = indices.size
    for unit in range(lo, hi):
        i, j = unit // count, unit % count
        piece, result = source[i, indices[j]], out[i, j]
        for k in range(result.size):
            result[k] = piece[k]


def _add_elements(lo: Any, hi: Any, source: Any, indices: Any, out: Any) -> None:
    """Add elements to the indexed elements of an array of shape (outer, size)."""
    for i in range(lo, hi):
        row, result = source[i], out[i]
        for j in range(indices.size):
            result[indices[j]] += row[j]


def _add_pieces(lo: Any, hi: Any, source: Any, indices: Any, out: Any) -> None:
    """Add pieces to the indexed pieces among those from `lo` to `hi`."""
    size = out.shape[1]
    for i in range(lo // size, (hi + size - 1) // size):
        first, end = max(lo - i * size, 0), min(hi - i * size, size)
        for j in range(indices.size):
            number = indices[j]
            if first <= number < end:
                piece, result = source[i, j], out[i, number]
                for k in range(result.size):
                    result[k] += piece[k]


_READ_ELEMENTS, _READ_PIECES = Kernel.of(_read_elements), Kernel.of(_read_pieces)
_ADD_ELEMENTS, ADD_PIECES = Kernel.of(_add_elements), Kernel.of(_add_pieces)

# --- On views -------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """How to read a view with an index of whole slices.

    Attributes:
        indices: the position of the slice numbers in the storage of the index.
        pieces: the shape (outer, size, inner) of the contiguous view, or (outer, size) if the
            pieces of slices have one element.
        indexed: the shape of the indexed slices, in the same form.
        bits: the unsigned integer type that elements are read as.
        result: the layout of the slices.
    """

    indices: slice
    pieces: Shape
    indexed: Shape
    bits: type
    result: Layout


@functools.lru_cache(1024)
def _planned(data: Layout, dim: int, index: Layout) -> _Plan | None:
    """Return how a non-empty index reads a view; None if it does not index whole slices."""
    shape, strides, count = index.shape, index.strides, index.shape[dim]
    if strides[dim] != 1 or any(strides[:dim]) or any(strides[dim + 1 :]):
        return None
    if shape[:dim] != data.shape[:dim] or shape[dim + 1 :] != data.shape[dim + 1 :]:
        return None
    outer, inner = size_of(shape[:dim]), size_of(shape[dim + 1 :])
    inside = () if inner == 1 else (inner,)
    return _Plan(
        slice(index.offset, index.offset + count),
        (outer, data.shape[dim], *inside),
        (outer, count, *inside),
        movement.BITS[data.dtype.itemsize],
        row_major(shape, data.dtype),
    )


def gather_slices(
    source: TensorData, dim: int, index: TensorData, parallel: bool
) -> TensorData | None:
    """Return the slices of a view that an index selects; None if these are not whole slices."""
    plan = _planned(source.layout, dim, index.layout)
    if plan is None:
        return None
    indices, pieces, indexed, bits, result = plan
    row = index.storage[indices]
    if result.size < SMALL and source.layout.row_major and not parallel:
        return TensorData.of(source.array.take(row, dim), result)
    source = _contiguous(source, parallel)
    parts, out = source.array.reshape(pieces), empty(indexed, bits)
    if len(indexed) == 2:
        _READ_ELEMENTS.run(indexed[0], parallel, parts.view(bits), row.view(np.uint64), out)
    else:
        _READ_PIECES.run(indexed[0] * indexed[1], parallel, parts.view(bits), row, out)
    return TensorData.of(out.view(result.dtype.numpy).reshape(result.shape), result)


def add_slices(
    source: TensorData, dim: int, index: TensorData, out: TensorData, parallel: bool
) -> bool:
    """Add slices to those that an index selects; return False if these are not whole slices."""
    plan = _planned(out.layout, dim, index.layout) if out.layout.row_major else None
    if plan is None:
        return False
    source = _contiguous(source, parallel)
    row, sums = index.storage[plan.indices], out.array.reshape(plan.pieces)
    parts = source.array.reshape(plan.indexed)
    if sums.ndim == 2:
        _ADD_ELEMENTS.run(len(sums), parallel, parts, row.view(np.uint64), sums)
    else:
        ADD_PIECES.run(sums.shape[0] * sums.shape[1], parallel, parts, row, sums)
    return True


def _contiguous(data: TensorData, parallel: bool) -> TensorData:
    """Return the view itself if it is contiguous, else a contiguous copy."""
    if data.layout.row_major:
        return data
    return movement.copied(data, data.layout.contiguous, parallel)


SPECIAL_CASES.update(gather=gather_slices, scatter_add=add_slices)
