"""A fast check that views do not share memory, for in-place operations."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mt_tensor.core.tensor_data import TensorData


def are_disjoint(views: Iterable[TensorData]) -> bool:
    """Return True if the views certainly do not share memory: each has its own NumPy array.

    If False, they may share memory: see `TensorBackend.same_memory`.
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
