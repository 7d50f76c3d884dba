"""Keys that tell storages apart, and that tell which of them share bytes."""

from __future__ import annotations

from typing import Any

import numpy as np


def storage_key(storage: Any) -> Any:
    """Return a key that tells live storages apart: of arrays, the address and the dtype."""
    if isinstance(storage, np.ndarray) and storage.size:
        return storage.__array_interface__["data"][0], storage.dtype.str
    return id(storage)


def alias_group(storage: Any) -> Any:
    """Return a key that is the same for live storages that share bytes."""
    return id(owner_of(storage))


def owner_of(storage: Any) -> Any:
    """Return the object that owns the bytes of a storage."""
    while isinstance(storage, np.ndarray) and isinstance(storage.base, np.ndarray):
        storage = storage.base
    return storage
