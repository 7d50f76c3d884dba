"""What tells storages apart, and what says that two share bytes."""

from __future__ import annotations

from typing import Any

import numpy as np


def key_of(storage: Any) -> Any:
    """Return what tells a storage from others that are alive: for arrays, where they begin."""
    if isinstance(storage, np.ndarray) and storage.size:
        return storage.__array_interface__["data"][0], storage.dtype.str
    return id(storage)


def group_of(storage: Any) -> Any:
    """Return what is the same for storages that share bytes."""
    while isinstance(storage, np.ndarray) and isinstance(storage.base, np.ndarray):
        storage = storage.base
    return id(storage)
