"""The table of the buffers that a recorded function has used, by the identity of their storages."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from mt_tensor.core.tensor_data import TensorData
from mt_tensor.programs.program import Buffer, Opaque, Origin
from mt_tensor.programs.storages import alias_group, owner_of, storage_key


class BufferTable:
    """The buffers and opaque values of a function that is being recorded.

    Storages that existed before the call are kept alive, so that no other storage gets their
    address. Storages that the call allocates may be freed at any time, and are removed from the
    table then.

    Args:
        on_input: called with the `storage_key` of each storage that existed before the call.

    Attributes:
        buffers: the buffers, by `storage_key`.
        changed: the alias groups that have been written to after their allocation.
    """

    def __init__(self, on_input: Callable[[Any], None]) -> None:
        self.buffers: dict[Any, Buffer] = {}
        self.changed: set[Any] = set()
        self._on_input = on_input
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
            owner = owner_of(data.storage)
            if allocated:
                self._groups.setdefault(id(owner), object())
                self._remove_with(owner, self.buffers, key)
                self._remove_with(owner, self._groups, id(owner))
            else:
                self._alive.append(data.storage)
                self._on_input(key)
            origin: Origin = "m" if allocated else "x"
            buffer = Buffer(data, self.group(owner), origin, next(self._count))
            self.buffers[key] = buffer
        return buffer

    def is_constant(self, buffer: Buffer) -> bool:
        """Return whether the current elements of a buffer are the same at each replay."""
        return buffer.is_constant and buffer.group not in self.changed

    def group(self, storage: Any) -> Any:
        """Return the alias group of a storage."""
        owner = id(owner_of(storage))
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
        """Return the operand of an opaque value, and any other value unchanged."""
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
        except TypeError:  # it does not support weak references
            self._alive.append(owner)
