"""Shared memory of the simulator that detects races between threads."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

from mt_cuda.core.errors import OutOfBoundsError, RaceError
from mt_cuda.core.simulator import SHARED, Cuda
from mt_tensor.extending import Array


class Shared:
    """Shared memory: an array that detects races between threads for an element.

    Since the last barrier, an element may be accessed by one thread, or read by several.
    """

    def __init__(self, cuda: Cuda, elements: Array) -> None:
        self._cuda = cuda
        self._elements = elements
        self._convert = elements.dtype.type
        self._indices = _indices(elements.shape)
        self._phase = -1
        # Since the last barrier: for each element, the first thread that accessed it, and the
        # elements that were written. A thread runs to its next barrier before others do.
        self._first: dict[Any, int] = {}
        self._written: set[Any] = set()

    def __getitem__(self, at: Any) -> Any:
        """Return one element."""
        if self._phase != self._cuda.phase or at not in self._indices:
            self._begin(at)
        thread = self._cuda.threadIdx.x
        if self._first.setdefault(at, thread) != thread and at in self._written:
            self._race(at, "reads", self._first[at], "wrote")
        return self._elements[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        """Store one element."""
        if self._phase != self._cuda.phase or at not in self._indices:
            self._begin(at)
        thread = self._cuda.threadIdx.x
        if self._first.setdefault(at, thread) != thread:
            self._race(at, "writes", self._first[at], "wrote" if at in self._written else "read")
        self._written.add(at)
        self._elements[at] = self._convert(value)

    def _begin(self, at: Any) -> None:
        """Check an index, and forget accesses before a barrier."""
        if at not in self._indices:
            shape = self._elements.shape
            raise OutOfBoundsError(f"index {at} of shared memory {shape} is out of bounds.")
        self._phase = self._cuda.phase
        self._first.clear()
        self._written.clear()

    def _race(self, at: Any, does: str, other: int, did: str) -> None:
        raise RaceError(
            f"it {does} element {at} of shared memory, which thread {other} {did} "
            "since the last barrier: put cuda.syncthreads() between the two."
        )


@cache
def _indices(shape: tuple[int, ...]) -> frozenset[Any]:
    """Return the indices of all elements: integers if there is one dimension, or else tuples."""
    if len(shape) == 1:
        return frozenset(range(*shape))
    return frozenset(product(*map(range, shape)))


SHARED["array"] = Shared
