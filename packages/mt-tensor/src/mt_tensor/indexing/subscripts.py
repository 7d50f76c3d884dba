"""Advanced indexing, `x[...]` with masks and integer tensors, and assignment to `x[...]`.

The integers, slices, None and Ellipsis of a key select a view, as in `core/subscripts.py`. The
integer tensors are then broadcast, and select elements of that view; a mask is equivalent to one
integer tensor per dimension.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from mt_tensor.core.dtypes import Number, bool_, plain, uint8
from mt_tensor.core.elementwise import constant
from mt_tensor.core.gathering import in_range
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import Shape, shape_broadcast, size_of, strides_from_shape
from mt_tensor.core.subscripts import FULL_SLICE, Select, basic_view, complete_entries
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.indexing.finding import nonzero_indices
from mt_tensor.indexing.scattering import Scatter
from mt_tensor.indexing.slices import GatherSlices, along, flat_indices
from mt_tensor.recording.aliasing import positions

_AS_TENSORS = (bool, np.bool_, list, tuple, range, np.ndarray)
"""The types of index entries that are converted to tensors."""


Pick: TypeAlias = tuple[int, Tensor]
"""A dimension, and an int64 tensor of non-negative indices into it."""

# --- Keys ---------------------------------------------------------------------------------------


def _normalize_entry(x: Tensor, entry: Any) -> Any:
    """Convert an entry of a key to an int, a slice, None, Ellipsis or an index tensor."""
    if not isinstance(entry, Tensor):
        if not isinstance(entry, _AS_TENSORS):
            return entry
        entry = _index_tensor(x, entry)
    if entry.backend is not x.backend:
        common_backend(x, entry)
    layout = entry._tensor.layout
    if layout.dtype.is_floating_point:
        raise IndexingError(
            f"a {layout.dtype.name} tensor cannot be an index: use integers or a bool mask."
        )
    if layout.dtype is uint8:
        raise IndexingError(
            "a uint8 tensor cannot be an index, since torch treats it as a mask: convert indices "
            "with x.long(), and a mask with x.bool()."
        )
    is_number = not layout.shape and layout.dtype is not bool_
    return entry.item() if is_number else entry


def _index_tensor(x: Tensor, entry: Any) -> Tensor:
    """Convert nested bools or integers to a tensor."""
    try:
        array = np.asarray(entry)
    except ValueError as error:
        raise IndexingError(f"{entry!r} cannot be an index: {error}.") from None
    if array.size == 0 and not isinstance(entry, np.ndarray):
        array = array.astype(np.int64)  # NumPy converts an empty list to floats
    if array.dtype.kind not in "biu":
        raise IndexingError(
            f"a {array.dtype} array cannot be an index: use integers or a bool mask."
        )
    return x._uploaded(array if array.dtype in (bool, np.uint64) else array.astype(np.int64))


def _dims_used(entry: Any) -> int:
    """Return the number of dimensions that an entry indexes."""
    if entry is None or entry is Ellipsis:
        return 0
    return len(entry._tensor.layout.shape) if _is_mask(entry) else 1


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, Tensor) and entry._tensor.layout.dtype is bool_


def _resolve(x: Tensor, key: Any) -> tuple[Tensor, list[Pick]]:
    """Return the view of `x` for the basic entries of a key, and the picks from this view."""
    if _is_mask(key) and key.backend is x.backend and x.is_contiguous():
        dims, sizes = key.ndim, key._tensor.layout.shape
        if dims and sizes == x._tensor.layout.shape[:dims]:  # one index instead of several
            if dims > 1:
                x, key = x.flatten(0, dims - 1), key.flatten()
            return x, list(enumerate(nonzero_indices(key)))
    entries: Sequence[Any] = key if isinstance(key, tuple) else (key,)
    shape = x._tensor.layout.shape
    entries = [_normalize_entry(x, entry) for entry in entries]
    used = sum(map(_dims_used, entries))
    if used != len(shape) or EllipsisType in map(type, entries):
        entries = complete_entries(entries, used, len(shape))
    basic: list[Any] = []
    picks: list[Pick] = []
    dim, view_dim = 0, 0  # dimensions of the tensor and of the view
    for entry in entries:
        if isinstance(entry, Tensor):
            if _is_mask(entry):
                used = len(entry._tensor.layout.shape)
                indices = _mask_indices(entry, shape[dim : dim + used], dim)
            else:
                where = ("x[...]", f"dimension {dim}")
                used, indices = 1, [in_range(entry, shape[dim], where, negative=True)]
            picks += enumerate(indices, view_dim)
            view_dim += len(indices)
            # A 0-D mask picks from a new dimension.
            basic += [FULL_SLICE] * used if used else [None]
            dim += used
        else:
            basic.append(entry)
            view_dim += entry is None or isinstance(entry, slice)
            dim += entry is not None
    if picks and basic == [FULL_SLICE] * len(shape):
        return x, picks
    return Select.apply(x, basic), picks


def _mask_indices(mask: Tensor, shape: Shape, dim: int) -> list[Tensor]:
    """Return the indices where a mask is True, one tensor per dimension."""
    if mask._tensor.layout.shape != shape:
        raise IndexingError(
            f"a mask at dimension {dim} must have shape {shape}; shape {mask.shape} was given."
        )
    return nonzero_indices(mask)


# --- Picks --------------------------------------------------------------------------------------


def _make_adjacent(x: Tensor, picks: list[Pick]) -> tuple[Tensor, int]:
    """Return `x` with the picked dimensions next to each other, and the first of them.

    As in NumPy and torch, they are moved to the front unless they are adjacent. The dimensions of
    the indices replace them in the result.
    """
    dims = [dim for dim, _ in picks]
    first = dims[0]
    if dims == list(range(first, first + len(dims))):
        return x, first
    return x.permute(*dims, *(d for d in range(x.ndim) if d not in dims)), 0


def _offsets(picks: list[Pick], strides: tuple[int, ...]) -> Tensor:
    """Return the sum of the indices multiplied by the strides of their dimensions, broadcast."""
    terms = [
        index if stride == 1 else index * stride
        for (_, index), stride in zip(picks, strides, strict=True)
    ]
    return sum(terms[1:], terms[0])


def _pick(x: Tensor, picks: list[Pick]) -> Tensor:
    """Return a copy of the indexed elements."""
    if len(picks) == 1:
        ((dim, index),) = picks
        return GatherSlices.apply(x, index, dim)
    x, first = _make_adjacent(x, picks)
    last = first + len(picks) - 1
    offsets = _offsets(picks, strides_from_shape(x.shape[first : last + 1]))
    return GatherSlices.apply(x.flatten(first, last), offsets, first)


def _store(x: Tensor, picks: list[Pick], value: Tensor) -> None:
    """Store into the indexed elements, with offsets into the memory range that `x` spans."""
    if x._check_in_place(value):
        x._replace(_put(x, picks, value))
        return
    if len(picks) == 1:
        _store_slices(x.detach(), *picks[0], value)
        return
    indexed = functools.reduce(shape_broadcast, [index.shape for _, index in picks])
    x, first = _make_adjacent(x.detach(), picks)
    end = first + len(picks)
    before, after = x.shape[:first], x.shape[end:]
    source = _source(x, (*before, *indexed, *after), value)
    if not source.numel():
        return
    ones = (1,) * len(indexed)
    # The offsets of the elements at index 0 of the picked dimensions, over the other dimensions.
    rest = positions((*before, *ones, *after), (*x.stride()[:first], *ones, *x.stride()[end:]))
    offsets = _offsets(picks, x.stride()[first:end])
    offsets = offsets.view(*offsets.shape, *(1,) * len(after))
    data = x._tensor
    spans = [stride * (size - 1) for stride, size in zip(x.stride(), x.shape, strict=True)]
    start = sum(min(span, 0) for span in spans)
    row = data.like((1 + sum(map(abs, spans)),), (1,), data.offset + start)
    index = offsets + x._uploaded(rest - start)
    x.backend.scatter(source.reshape(-1)._tensor, 0, index.reshape(-1)._tensor, row)
    data.bump_version()


def _store_slices(x: Tensor, dim: int, index: Tensor, value: Tensor) -> None:
    """Store into the slices along a dimension at the indices of a single tensor."""
    before, after = x.shape[:dim], x.shape[dim + 1 :]
    source = _source(x, (*before, *index.shape, *after), value)
    if index.dtype is x.dtype:
        index = index.clone()  # it may share memory with `x`
    if index.ndim != 1:
        source, index = source.reshape(*before, index.numel(), *after), index.reshape(-1)
    x.backend.scatter(source._tensor, dim, along(index, dim, x.shape)._tensor, x._tensor)
    x._tensor.bump_version()


def _put(x: Tensor, picks: list[Pick], value: Tensor) -> Tensor:
    """Return a copy of `x` with `value` at the indexed elements, differentiable in both."""
    index = _pick(flat_indices(x), picks)
    source = _without_leading_ones(value.to(x.backend).to(x.dtype), index.shape)
    source = source.expand(index.shape).reshape(-1)
    flat = x._before_change().reshape(-1)
    return Scatter.apply(flat, 0, index.reshape(-1), source).view(*x.shape)


def _as_tensor(x: Tensor, value: Any) -> Tensor:
    """Convert a value to store to a tensor; numbers and nested lists use the backend of `x`."""
    if isinstance(value, Tensor):
        return value
    value = plain(value)
    if isinstance(value, Number):
        return constant(x.backend, x.dtype, x.dtype.checked(value))
    try:
        return x._uploaded(np.array(value))
    except ValueError as error:
        raise ShapeError(
            f"x[key] = value: nested sequences must have equal lengths at each level ({error})."
        ) from None


def _source(x: Tensor, shape: Shape, value: Tensor) -> Tensor:
    """Convert a value to the dtype of `x` and to `shape`, in memory that `x` does not share."""
    source = value.detach().to(x.backend).to(x.dtype)
    if x.backend.same_memory(source._tensor.storage, x._tensor.storage):
        source = source.clone()
    return _without_leading_ones(source, shape).expand(shape)


def _without_leading_ones(value: Tensor, shape: Shape) -> Tensor:
    """Drop leading sizes of 1 of a value that has more dimensions than `shape`, as in torch.

    Raises:
        ShapeError: the value does not broadcast to `shape`.
    """
    if value.shape in ((), shape):
        return value
    extra = max(value.ndim - len(shape), 0)
    if size_of(value.shape[:extra]) == 1:
        value = value.reshape(value.shape[extra:])
    fits = value.ndim <= len(shape) and all(
        size in (1, expected)
        for size, expected in zip(value.shape[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"a value of shape {value.shape} does not broadcast to {shape}, the shape of the "
            "indexed elements."
        )
    return value


# --- x[...] -------------------------------------------------------------------------------------


def _advanced_index(self: Tensor, key: Any) -> Tensor:
    """Return the elements for a key with masks or index tensors."""
    view, picks = _resolve(self, key)
    return _pick(view, picks) if picks else view


def __setitem__(self: Tensor, key: Any, value: Any) -> None:
    """Store `value`, broadcast and converted, into the elements selected by a key.

    If an element is selected several times, it is undefined which value is stored.

    Raises:
        IndexingError: as for `x[key]`.
        ShapeError: `value` does not broadcast to the shape of `x[key]`.
        InPlaceError: the tensor is a leaf that requires grad, or some of its elements share memory.
        DTypeError: `value` is a number out of the range of the dtype.
    """
    source = _as_tensor(self, value)
    if not source.ndim and _is_mask(key) and key.shape == self.shape:
        self.masked_fill_(key, source.to(self.backend))
        return
    picks: list[Pick] = []
    if (view := basic_view(self, key)) is None:
        view, picks = _resolve(self, key)
    if picks:
        _store(view, picks, source)
    else:
        view.copy_(_without_leading_ones(source, view.shape))
