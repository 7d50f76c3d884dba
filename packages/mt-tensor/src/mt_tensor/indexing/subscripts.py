"""`x[...]` with masks and index tensors among integers, slices and None, and storing into it.

Integers, slices, None and Ellipsis give a view, as in the lesson. What remains are tensors of
integers (a mask counts as one tensor of positions for each of its dimensions). They are broadcast
together, and name one element each of the dimensions they stand for.
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
from mt_tensor.core.subscripts import EVERYTHING, Select, basic_view, in_full
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.indexing.finding import places_of
from mt_tensor.indexing.scattering import Scatter
from mt_tensor.indexing.slices import GatherSlices, along, element_numbers
from mt_tensor.recording.aliasing import positions

_AS_TENSORS = (bool, np.bool_, list, tuple, range, np.ndarray)
"""What stands for a tensor in an index."""


Pick: TypeAlias = tuple[int, Tensor]
"""A dimension, and the tensor of int64 that names elements of it, counted from the front."""

# --- Reading the key ----------------------------------------------------------------------------


def _normal(x: Tensor, entry: Any) -> Any:
    """Return an entry of the key as an int, a slice, None, Ellipsis or a tensor that can index."""
    if not isinstance(entry, Tensor):
        if not isinstance(entry, _AS_TENSORS):
            return entry
        entry = _index_tensor(x, entry)
    if entry.backend is not x.backend:
        common_backend(x, entry)
    layout = entry._tensor.layout
    if layout.dtype.is_floating_point:
        raise IndexingError(
            f"a tensor of {layout.dtype.name} cannot index: use integers or a mask of bools."
        )
    if layout.dtype is uint8:
        raise IndexingError(
            "a tensor of uint8 cannot index, for torch takes it for a mask: convert with x.long() "
            "if it holds positions, and with x.bool() if it is a mask."
        )
    is_number = not layout.shape and layout.dtype is not bool_
    return entry.item() if is_number else entry


def _index_tensor(x: Tensor, entry: Any) -> Tensor:
    """Return truth values or integers, in any nesting, as a tensor."""
    try:
        array = np.asarray(entry)
    except ValueError as error:
        raise IndexingError(f"{entry!r} cannot index a tensor: {error}.") from None
    if array.size == 0 and not isinstance(entry, np.ndarray):
        array = array.astype(np.int64)  # NumPy takes an empty list for floats
    if array.dtype.kind not in "biu":
        raise IndexingError(
            f"an index of {array.dtype} cannot index a tensor: use integers or a mask of bools."
        )
    return x._uploaded(array if array.dtype in (bool, np.uint64) else array.astype(np.int64))


def _dims_used(entry: Any) -> int:
    """Return how many dimensions of the tensor an entry stands for."""
    if entry is None or entry is Ellipsis:
        return 0
    return len(entry._tensor.layout.shape) if _is_mask(entry) else 1


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, Tensor) and entry._tensor.layout.dtype is bool_


def _resolve(x: Tensor, key: Any) -> tuple[Tensor, list[Pick]]:
    """Return the view that a key gives of `x`, and what tensors pick out of this view."""
    entries: Sequence[Any] = key if isinstance(key, tuple) else (key,)
    if _is_mask(key) and key.ndim > 1 and key.shape == x.shape[: key.ndim] and x.is_contiguous():
        x, entries = x.flatten(0, key.ndim - 1), (key.flatten(),)  # one index instead of several
    shape = x._tensor.layout.shape
    entries = [_normal(x, entry) for entry in entries]
    named = sum(map(_dims_used, entries))
    if named != len(shape) or EllipsisType in map(type, entries):
        entries = in_full(entries, named, len(shape))
    plain: list[Any] = []
    picks: list[Pick] = []
    dim, seen = 0, 0  # of the tensor, and of the view
    for entry in entries:
        if isinstance(entry, Tensor):
            if _is_mask(entry):
                used = len(entry._tensor.layout.shape)
                indices = _mask_positions(entry, shape[dim : dim + used], dim)
            else:
                used, indices = 1, [_from_the_front(entry, shape[dim], dim)]
            for index in indices:
                picks.append((seen, index))
                seen += 1
            # A mask without dimensions picks from a new one.
            plain += [EVERYTHING] * used if used else [None]
            dim += used
        else:
            plain.append(entry)
            seen += entry is None or isinstance(entry, slice)
            dim += entry is not None
    if picks and plain == [EVERYTHING] * len(shape):
        return x, picks
    return Select.apply(x, plain), picks


def _mask_positions(mask: Tensor, shape: Shape, dim: int) -> list[Tensor]:
    """Return where a mask is True: one tensor of positions for each of its dimensions."""
    if mask._tensor.layout.shape != shape:
        raise IndexingError(
            f"a mask at dimension {dim} must have shape {shape}, one truth value for each element; "
            f"shape {mask.shape} was given."
        )
    return places_of(mask)


def _from_the_front(index: Tensor, length: int, dim: int) -> Tensor:
    """Return indices as int64, the negative ones counted from the front.

    Raises:
        IndexingError: one is out of range.
    """
    return in_range(index, length, ("x[...]", f"dimension {dim}"), negative=True)


# --- Picking ------------------------------------------------------------------------------------


def _neighbours(x: Tensor, picks: list[Pick]) -> tuple[Tensor, int]:
    """Return `x` with the picked dimensions next to each other, and where the first of them is.

    They stay where they are if they are neighbours already, and otherwise come to the front; the
    dimensions of the indices take their place in the result. This is NumPy's rule, and torch's.
    """
    dims = [dim for dim, _ in picks]
    first = dims[0]
    if dims == list(range(first, first + len(dims))):
        return x, first
    return x.permute(*dims, *(d for d in range(x.ndim) if d not in dims)), 0


def _offsets(picks: list[Pick], strides: tuple[int, ...]) -> Tensor:
    """Return, broadcast together, each index times the stride of its dimension, added up."""
    terms = [
        indices if stride == 1 else indices * stride
        for (_, indices), stride in zip(picks, strides, strict=True)
    ]
    return sum(terms[1:], terms[0])


def _pick(x: Tensor, picks: list[Pick]) -> Tensor:
    """Return a copy of the elements that indices name."""
    if len(picks) == 1:
        ((dim, index),) = picks
        return GatherSlices.apply(x, index, dim)
    x, first = _neighbours(x, picks)
    last = first + len(picks) - 1
    offsets = _offsets(picks, strides_from_shape(x.shape[first : last + 1]))
    return GatherSlices.apply(x.flatten(first, last), offsets, first)


def _store(x: Tensor, picks: list[Pick], value: Tensor) -> None:
    """Store into the elements that indices name, through the row of memory that `x` lies in."""
    if x._check_in_place(value):
        x._replace(_put(x, picks, value))
        return
    if len(picks) == 1:
        _store_slices(x.detach(), *picks[0], value)
        return
    indexed = functools.reduce(shape_broadcast, [index.shape for _, index in picks])
    x, first = _neighbours(x.detach(), picks)
    end = first + len(picks)
    before, after = x.shape[:first], x.shape[end:]
    source = _source(x, (*before, *indexed, *after), value)
    if not source.numel():
        return
    ones = (1,) * len(indexed)
    rest = positions(
        (*before, *ones, *after), (*x.stride()[:first], *ones, *x.stride()[end:])
    )  # of the first element that the indices may name, over all other dimensions
    offsets = _offsets(picks, x.stride()[first:end])
    offsets = offsets.view(*offsets.shape, *(1,) * len(after))
    data = x._tensor
    reach = [stride * (length - 1) for stride, length in zip(x.stride(), x.shape, strict=True)]
    start = sum(min(each, 0) for each in reach)
    row = data.like((1 + sum(map(abs, reach)),), (1,), data.offset + start)
    places = offsets + x._uploaded(rest - start)
    x.backend.scatter(source.reshape(-1)._tensor, 0, places.reshape(-1)._tensor, row)
    data.bump_version()


def _store_slices(x: Tensor, dim: int, index: Tensor, value: Tensor) -> None:
    """Store into the slices along a dimension that one tensor of indices names."""
    before, after = x.shape[:dim], x.shape[dim + 1 :]
    source = _source(x, (*before, *index.shape, *after), value)
    if index.dtype is x.dtype:
        index = index.clone()  # for it may lie in the memory that is written to
    if index.ndim != 1:
        source, index = source.reshape(*before, index.numel(), *after), index.reshape(-1)
    places = along(index, dim, x.shape)
    x.backend.scatter(source._tensor, dim, places._tensor, x._tensor)
    x._tensor.bump_version()


def _put(x: Tensor, picks: list[Pick], value: Tensor) -> Tensor:
    """Return a copy of `x` with other elements where indices point; gradients flow into both."""
    index = _pick(element_numbers(x), picks)
    source = _without_leading_ones(value.to(x.backend).to(x.dtype), index.shape)
    source = source.expand(index.shape).reshape(-1)
    flat = x._before_change().reshape(-1)
    return Scatter.apply(flat, 0, index.reshape(-1), source).view(*x.shape)


def _as_tensor(x: Tensor, value: Any) -> Tensor:
    """Return a value to store as a tensor; numbers and nested lists are put where `x` is."""
    if isinstance(value, Tensor):
        return value
    value = plain(value)
    if isinstance(value, Number):
        return constant(x.backend, x.dtype, x.dtype.checked(value))
    try:
        return x._uploaded(np.array(value))
    except ValueError as error:
        raise ShapeError(
            f"nested sequences must have equal lengths at each level ({error})."
        ) from None


def _source(x: Tensor, shape: Shape, value: Tensor) -> Tensor:
    """Return the elements to store: of the dtype of `x`, broadcast to `shape`, in other memory."""
    source = value.detach().to(x.backend).to(x.dtype)
    if x.backend.same_memory(source._tensor.storage, x._tensor.storage):
        source = source.clone()
    return _without_leading_ones(source, shape).expand(shape)


def _without_leading_ones(value: Tensor, shape: Shape) -> Tensor:
    """Return a value that fits `shape`: like torch, drop leading lengths of 1 that it lacks."""
    if value.shape in ((), shape):
        return value
    extra = max(value.ndim - len(shape), 0)
    if size_of(value.shape[:extra]) == 1:
        value = value.reshape(value.shape[extra:])
    fits = value.ndim <= len(shape) and all(
        length in (1, wanted)
        for length, wanted in zip(value.shape[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(
            f"a value of shape {value.shape} does not broadcast to {shape}, the shape of the "
            "elements that the index names."
        )
    return value


# --- x[...] -------------------------------------------------------------------------------------


def _advanced_index(self: Tensor, key: Any) -> Tensor:
    """Return the elements that a key names which holds more than integers, slices and None."""
    view, picks = _resolve(self, key)
    return _pick(view, picks) if picks else view


def __setitem__(self: Tensor, key: Any, value: Any) -> None:
    """Store `value`, broadcast and converted, into the elements that a key names.

    Where indices name an element several times, which of the values remains is open.

    Raises:
        IndexingError: as for `x[key]`.
        ShapeError: `value` does not broadcast to the shape of `x[key]`.
        InPlaceError: the tensor is a leaf that requires grad, or repeats elements.
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
