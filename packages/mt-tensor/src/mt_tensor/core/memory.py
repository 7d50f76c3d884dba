"""Which places of memory views name: where each element lies, and whether two share a place."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mt_tensor.core.dtypes import Array
from mt_tensor.core.strides import Shape, Strides
from mt_tensor.core.tensor_data import TensorData


def positions(shape: Shape, strides: Strides, offset: int = 0) -> Array:
    """Return where in the storage each element of a view lies; an array of the view's shape."""
    where = np.full((1,) * len(shape), offset, np.int64)
    for dim, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        where = where + (np.arange(extent) * stride).reshape(-1, *(1,) * (len(shape) - dim - 1))
    return where


def overlaps(shape: Shape, strides: Strides) -> bool:
    """Whether two indices of a view may name the same position.

    Sorted by stride, each dimension must step over all that the smaller ones span. Views made by
    slicing and permuting do; expanded dimensions and overlapping windows do not.
    """
    span = 0
    for stride, extent in sorted(zip(map(abs, strides), shape, strict=True)):
        if extent > 1:
            if stride <= span:
                return True
            span += stride * (extent - 1)
    return False


def are_apart(views: Iterable[TensorData]) -> bool:
    """Whether views are seen to share no memory: each is of an array that has memory of its own.

    If not, only their backend can tell.
    """
    owners = set()
    for view in views:
        memory = view._storage
        if memory is None:
            memory = getattr(view, "_array", None)
        if memory is None:
            memory = view.storage
        owner = getattr(memory, "base", None)
        owner = memory if owner is None else owner
        if not isinstance(owner, np.ndarray) or not owner.flags.owndata or id(owner) in owners:
            return False
        owners.add(id(owner))
    return True
