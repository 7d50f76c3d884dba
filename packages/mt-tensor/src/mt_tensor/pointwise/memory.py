"""Whether views share memory: what changes in place must know."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mt_tensor.core.strides import Shape, Strides
from mt_tensor.core.tensor_data import TensorData


def overlaps(shape: Shape, strides: Strides) -> bool:
    """Whether two indices of a view may name the same element.

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
    """Whether each view is of a NumPy array with memory of its own.

    If not, they may share memory: see `TensorBackend.same_memory`.
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
