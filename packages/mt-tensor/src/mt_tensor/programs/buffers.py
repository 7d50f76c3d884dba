"""The table of the buffers that a recorded function has used, by the identity of their storages."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from mt_tensor.core.tensor_data import TensorData
from mt_tensor.programs.program import Buffer, Opaque, Origin


def storage_key(storage: Any) -> Any:
    """Return a key that tells live storages apart: of arrays, the address and the dtype."""
    if isinstance(storage, np.ndarray) and storage.size:
        return storage.__array_interface__["data"][0], storage.dtype.str
    return id(storage)


def alias_group(storage: Any) -> Any:
    """Return a key that is the same for live storages that share bytes."""
    return id(_owner_of(storage))


def _owner_of(storage: Any) -> Any:
    """Return the object that owns the bytes of a storage."""
    while isinstance(storage, (np.ndarray, memoryview)):
        base = storage.base if isinstance(storage, np.ndarray) else storage.obj
        if base is None:
            break
        storage = base
    return storage


def alias_pattern(storages: Iterable[Any]) -> Any:
    """Return a key that is equal for storages that share bytes and addresses in the same way."""
    found = list(storages)
    groups, keys = list(map(alias_group, found)), list(map(storage_key, found))
    return tuple(map(groups.index, groups)), tuple(map(keys.index, keys))


def state_pattern(state: list[TensorData], given: Iterable[Any], fixed: frozenset[Any]) -> Any:
    """Return the `alias_pattern` of tensors of the state.

    It is None if one of them shares memory with an argument, or is in one of the alias groups of
    fixed tensors.
    """
    groups = {alias_group(data.storage) for data in state}
    others = (alias_group(data.storage) for data in given if isinstance(data, TensorData))
    if groups.isdisjoint(fixed) and groups.isdisjoint(others):
        return alias_pattern([data.storage for data in state])
    return None


class BufferTable:
    """The buffers and opaque values of a function that is being recorded.

    Storages that existed before are kept alive, so that no other gets their address. Those that
    calls allocate may be freed at any time, and are removed from the table then.

    Attributes:
        buffers: the buffers, by `storage_key`.
        changed: the alias groups that have been written to after their allocation.
    """

    def __init__(self) -> None:
        self.buffers: dict[Any, Buffer] = {}
        self.changed: set[Any] = set()
        self._opaque: dict[int, Opaque] = {}
        self._groups: dict[int, object] = {}  # of allocated buffers, by the owner of the bytes
        self._alive: list[Any] = []
        self._finalizers: list[weakref.finalize[..., Any]] = []
        self._count = itertools.count()

    def buffer(self, data: TensorData, allocated: bool = False) -> Buffer:
        """Return the buffer of a storage; add one if the storage is new."""
        key = storage_key(data.storage)
        buffer = self.buffers.get(key)
        if buffer is None:
            owner = _owner_of(data.storage)
            if allocated:
                self._groups.setdefault(id(owner), object())
                self._remove_with(owner, self.buffers, key)
                self._remove_with(owner, self._groups, id(owner))
            else:
                self._alive.append(data.storage)
            origin: Origin = "m" if allocated else "x"
            buffer = Buffer(data, self.group(owner), origin, next(self._count))
            self.buffers[key] = buffer
        return buffer

    def is_constant(self, buffer: Buffer) -> bool:
        """Whether the present elements of a buffer are the same at each replay."""
        return buffer.is_constant and buffer.group not in self.changed

    def group(self, storage: Any) -> Any:
        """Return the alias group of a storage."""
        owner = id(_owner_of(storage))
        return self._groups.get(owner, owner)

    def join(self, buffer: Buffer, other: Buffer) -> None:
        """Move a new buffer to the alias group of another."""
        self._groups[alias_group(buffer.data.storage)] = buffer.group = other.group

    def add_opaque(self, value: Any, groups: Iterable[Any]) -> Opaque:
        """Return the operand of an opaque value that holds buffers of some alias groups."""
        opaque = self._opaque[id(value)] = Opaque(frozenset(groups))
        self._remove_with(value, self._opaque, id(value))
        return opaque

    def as_operand(self, value: Any) -> Any:
        """Return the operand of an opaque value, and any other value as it is."""
        return self._opaque.get(id(value), value)

    def close(self) -> None:
        """Drop everything, and stop watching storages."""
        for finalizer in self._finalizers:
            finalizer.detach()
        vars(self).clear()

    def _remove_with(self, owner: Any, table: dict[Any, Any], key: Any) -> None:
        """Remove an entry of a table as soon as its owner is freed."""
        try:
            self._finalizers.append(weakref.finalize(owner, table.pop, key, None))
        except TypeError:  # it has no weak references
            self._alive.append(owner)
