"""Shared memory of the simulator that detects races between threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mt_cuda.core.errors import OutOfBoundsError, RaceError
from mt_cuda.core.simulator import SHARED, Cuda
from mt_tensor.extending import Array


@dataclass(slots=True)
class _Access:
    """The threads that accessed an element of shared memory since the last barrier."""

    phase: int = -1
    writer: int = -1
    readers: set[int] = field(default_factory=set)


class Shared:
    """Shared memory: an array that detects races between threads for an element."""

    def __init__(self, cuda: Cuda, elements: Array) -> None:
        self._cuda = cuda
        self._elements = elements
        self._touched: dict[Any, _Access] = {}

    def __getitem__(self, at: Any) -> Any:
        """Return one element."""
        thread, access = self._cuda.threadIdx.x, self._touched.get(at)
        if access is None or access.phase != self._cuda.phase:
            access = self._begun(at)
        elif access.writer not in (-1, thread):
            self._race(at, "reads", access.writer, "wrote")
        access.readers.add(thread)
        return self._elements[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        """Store one element."""
        thread, access = self._cuda.threadIdx.x, self._touched.get(at)
        if access is None or access.phase != self._cuda.phase:
            access = self._begun(at)
        elif access.writer not in (-1, thread):
            self._race(at, "writes", access.writer, "wrote")
        for reader in access.readers:
            if reader != thread:
                self._race(at, "writes", reader, "read")
        access.writer = thread
        self._elements[at] = self._elements.dtype.type(value)

    def _begun(self, at: Any) -> _Access:
        """Return the accesses to an element since the last barrier, initially none."""
        place = at if isinstance(at, tuple) else (at,)
        if not all(0 <= i < size for i, size in zip(place, self._elements.shape, strict=True)):
            raise OutOfBoundsError(f"index {at} of shared memory {self._elements.shape}.")
        access = self._touched[at] = _Access(self._cuda.phase)
        return access

    def _race(self, at: Any, does: str, other: int, did: str) -> None:
        raise RaceError(
            f"it {does} element {at} of shared memory, which thread {other} {did} "
            "since the last barrier: put cuda.syncthreads() between the two."
        )


SHARED["array"] = Shared
