"""Basic indexing: `x[...]` by integers, slices, None and Ellipsis.

Such a key only changes shape, strides and offset, so the result is a view. Keys with masks, lists
or integer tensors are advanced indexing, which uses `gather`: see `indexing/subscripts.py`, which
also implements assignment to `x[...]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Number
from mt_tensor.core.errors import DomainError, IndexingError
from mt_tensor.core.layout import Layout
from mt_tensor.core.linear import LinearFunction, ViewFunction
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData

FULL_SLICE = slice(None)
_ARE_BASIC = {int, slice, NoneType, EllipsisType}.issuperset


class Select(ViewFunction):
    """Index the leading dimensions with integers, slices and None; the result is a view."""

    @staticmethod
    def layout(layout: Layout, entries: Sequence[Any]) -> Layout:
        sizes, steps, offset = layout.shape, layout.strides, layout.offset
        shape: list[int] = []
        strides: list[int] = []
        dim = 0
        for entry in entries:
            if entry is None:
                shape.append(1)
                strides.append(1)
                continue
            size, stride = sizes[dim], steps[dim]
            if entry.__class__ is slice:
                if entry != FULL_SLICE:
                    start, step, size = _range_of(entry, size)
                    offset += start * stride
                    stride *= step
                shape.append(size)
                strides.append(stride)
            else:
                offset += _normalize_index(entry, dim, size) * stride
            dim += 1
        shape += sizes[dim:]
        if 0 in shape:
            offset = layout.offset  # no elements, but the offset must stay inside the storage
        return layout.like(tuple(shape), (*strides, *steps[dim:]), offset)

    @staticmethod
    def backward(grad: Tensor, source: Any, entries: Sequence[Any]) -> Tensor:
        return Select.gradient_of_argument(Unselect, grad, source.shape, entries)


class Unselect(LinearFunction):
    """Store elements where `Select` reads them, in a tensor filled with `value`; its adjoint."""

    @staticmethod
    def forward(x: Tensor, shape: Shape, entries: Sequence[Any], value: Number = 0) -> TensorData:
        data = x.backend.full(shape, x.dtype, value)
        x.backend.copy(x._tensor, Select.region(data, x.shape, entries))
        return data

    @staticmethod
    def backward(grad: Tensor, _: Any, __: Shape, entries: Sequence[Any], *___: Number) -> Tensor:
        return Select.apply(grad, entries)


def _range_of(entry: slice, size: int) -> tuple[int, int, int]:
    """Return the start, step and length of a slice."""
    try:
        start, stop, step = entry.indices(size)
    except (TypeError, ValueError) as error:  # ValueError: the step is 0
        kind = TypeError if isinstance(error, TypeError) else DomainError
        raise kind(f"{entry} cannot slice a tensor: {error}.") from None
    return start, step, len(range(start, stop, step))


def _normalize_index(entry: Any, dim: int, size: int) -> int:
    """Convert an integer of a key, possibly negative, to one counted from the front."""
    if not isinstance(entry, int | np.integer):
        raise IndexingError(
            f"a tensor cannot be indexed by {entry!r} of type {type(entry).__name__}: use "
            "integers, slices, None, ..., masks or tensors of integers."
        )
    if not -size <= entry < size:
        raise IndexingError(
            f"index {int(entry)} is out of range for dimension {dim} with {size} element(s)."
        )
    return int(entry) % size


def complete_entries(entries: Sequence[Any], used: int, ndim: int) -> list[Any]:
    """Complete the entries of a key with full slices for the remaining dimensions.

    Args:
        entries: the entries in the brackets.
        used: the number of dimensions that they index.
        ndim: the number of dimensions of the tensor.

    Raises:
        IndexingError: there are too many entries, or more than one is Ellipsis.
    """
    if used > ndim:
        raise IndexingError(
            f"too many indices: {used} were given for a tensor of {ndim} dimension(s)."
        )
    dots = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise IndexingError("an index may contain only a single Ellipsis (...).")
    position = dots[0] if dots else len(entries)
    missing = [FULL_SLICE] * (ndim - used)
    return [*entries[:position], *missing, *entries[position + len(dots) :]]


def basic_view(x: Tensor, key: Any) -> Tensor | None:
    """Return the view for a key of integers, slices, None and Ellipsis, or None for other keys."""
    entries: Sequence[Any] = key if isinstance(key, tuple) else (key,)
    if key.__class__ is int and x._tensor.layout.shape:  # the usual case
        return Select.apply(x, entries)
    if not _ARE_BASIC(map(type, entries)):
        return None
    used = len(entries) - entries.count(None)
    if used > x.ndim or Ellipsis in entries:
        entries = complete_entries(entries, used - entries.count(Ellipsis), x.ndim)
    return Select.apply(x, entries)


def __getitem__(self: Tensor, key: Any) -> Tensor:
    """Return the elements selected by a key.

    The result is a view for integers, slices (negative steps included), None and Ellipsis. With
    masks of any rank, or tensors, lists or arrays of integers, it is a copy.

    Raises:
        IndexingError: there are too many indices, one is out of range or of an unsupported type,
            the shape of a mask does not match, or index tensors do not broadcast.
    """
    view = basic_view(self, key)
    return self._advanced_index(key) if view is None else view
