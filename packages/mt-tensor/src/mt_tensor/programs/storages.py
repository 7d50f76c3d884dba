"""Keys that distinguish storages, and keys that are equal if storages share bytes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mt_tensor.core.tensor_data import TensorData


def storage_key(storage: Any) -> Any:
    """Return a key that distinguishes live storages: for arrays, the address and the dtype."""
    if isinstance(storage, np.ndarray) and storage.size:
        return storage.__array_interface__["data"][0], storage.dtype.str
    return id(storage)


def alias_group(storage: Any) -> Any:
    """Return a key that is the same for live storages that share bytes."""
    return id(owner_of(storage))


def owner_of(storage: Any) -> Any:
    """Return the object that owns the bytes of a storage."""
    while isinstance(storage, (np.ndarray, memoryview)):
        base = storage.base if isinstance(storage, np.ndarray) else storage.obj
        if base is None:
            break
        storage = base
    return storage


def pattern_of(keys: list[Any]) -> tuple[int, ...]:
    """Return for each key the position of the first one that is equal."""
    return tuple(map(keys.index, keys))


def state_pattern(state: list[TensorData], given: Iterable[Any], fixed: frozenset[Any]) -> Any:
    """Return a key that is equal for tensors of the state that share bytes in the same way.

    The key is None if one of them shares memory with an argument, or is in one of the alias groups
    of fixed tensors.
    """
    groups = [alias_group(data.storage) for data in state]
    others = {alias_group(data.storage) for data in given if isinstance(data, TensorData)}
    if fixed.isdisjoint(groups) and others.isdisjoint(groups):
        return pattern_of(groups), pattern_of([storage_key(data.storage) for data in state])
    return None
