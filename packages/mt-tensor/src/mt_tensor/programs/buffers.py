"""What tells storages apart, what says that two share bytes, and what is known of those alive."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from mt_tensor.core.tensor_data import TensorData
from mt_tensor.programs.program import Box, Memory


def key_of(storage: Any) -> Any:
    """Return what tells a storage from others that are alive: for arrays, where they begin."""
    if isinstance(storage, np.ndarray) and storage.size:
        return storage.__array_interface__["data"][0], storage.dtype.str
    return id(storage)


def group_of(storage: Any) -> Any:
    """Return what is the same for storages that share bytes."""
    return id(_owner_of(storage))


def _owner_of(storage: Any) -> Any:
    """Return what has the bytes of a storage."""
    while isinstance(storage, np.ndarray) and isinstance(storage.base, np.ndarray):
        storage = storage.base
    return storage


class Storages:
    """What is known of storages while a function is recorded.

    Those that were there before stay alive, so that nothing else gets their locations. Those that
    calls make may go as soon as nobody has them: they are forgotten then.

    Attributes:
        memories: for what tells a storage from others, what it is in the program.
    """

    def __init__(self) -> None:
        self.memories: dict[Any, Memory] = {}
        self._boxes: dict[int, Box] = {}
        self._groups: dict[int, object] = {}  # of memory that is made, by who has the bytes
        self._alive: list[Any] = []
        self._ends: list[weakref.finalize[..., Any]] = []
        self._count = itertools.count()

    def memory(self, data: TensorData, made: bool) -> Memory:
        """Return what a storage is in the program, which has `made` it if it is new."""
        key = key_of(data.storage)
        memory = self.memories.get(key)
        if memory is None:
            owner = _owner_of(data.storage)
            if made:
                self._groups.setdefault(id(owner), object())
            name = f"{'m' if made else 'x'}{next(self._count)}"
            memory = Memory(data, self.group(owner), made, name)
            self.memories[key] = memory
            if made:
                self._at_the_end_of(owner, self.memories, key)
                self._at_the_end_of(owner, self._groups, id(owner))
            else:
                self._alive.append(data.storage)
        return memory

    def group(self, storage: Any) -> Any:
        """Return what is the same for memory in the program that shares bytes."""
        owner = id(_owner_of(storage))
        return self._groups.get(owner, owner)

    def join(self, memory: Memory, other: Memory) -> None:
        """Let memory that a call has made be of the group of another, which it may be."""
        self._groups[group_of(memory.data.storage)] = memory.group = other.group

    def box(self, value: Any, groups: Iterable[Any]) -> Box:
        """Return the mark of something that a call leaves for another, with memory in it."""
        box = self._boxes[id(value)] = Box(frozenset(groups))
        self._at_the_end_of(value, self._boxes, id(value))
        return box

    def mark(self, value: Any) -> Any:
        """Return the mark of what a call has left for another; the value if it is none."""
        return self._boxes.get(id(value), value)

    def close(self) -> None:
        """Forget all, and wait for the end of nothing any more."""
        for end in self._ends:
            end.detach()
        self.__init__()  # type: ignore[misc]

    def _at_the_end_of(self, owner: Any, known: dict[Any, Any], key: Any) -> None:
        """Forget what is known under a key as soon as something is gone."""
        try:
            self._ends.append(weakref.finalize(owner, known.pop, key, None))
        except TypeError:  # nobody is told of its end
            self._alive.append(owner)
