"""Ranks as threads of one process, for tests of parallel training without MPI."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from mt_nn.errors import RankError
from mt_nn.parallel.group import Group, Pending
from mt_tensor import use_backend
from mt_tensor.extending import Array

T = TypeVar("T")

PATIENCE = 60.0
"""Number of seconds that a rank waits for the others."""


class _Rendezvous:
    """A barrier for a number of threads, and the value of each."""

    def __init__(self, size: int) -> None:
        self.barrier = threading.Barrier(size, timeout=PATIENCE)
        self.values: list[Any] = [None] * size


class Threads(Group):
    """A group whose ranks are threads.

    Attributes:
        operations: the names of the collective operations so far.
    """

    def __init__(self, rank: int, rendezvous: _Rendezvous) -> None:
        self.rank, self.size, self._rendezvous = rank, len(rendezvous.values), rendezvous
        self.operations: list[str] = []

    def gather(self, value: T, what: str) -> list[T]:
        """Return the values of all ranks, which must perform the same operation."""
        self.operations.append(what)
        self._rendezvous.values[self.rank] = what, value
        self._rendezvous.barrier.wait()
        values = list(self._rendezvous.values)
        self._rendezvous.barrier.wait()
        others = {name for name, _ in values} - {what}
        if others:
            raise RankError(f"one rank does {what}, and another {', '.join(others)}.")
        return [value for _, value in values]

    def start_sum(self, buffer: Array, what: str) -> Pending:
        """Replace a buffer with its sum over all ranks."""
        buffer[...] = np.sum(self.gather(buffer.copy(), what), axis=0)
        return Pending()

    def broadcast(self, buffer: Array, what: str, root: int = 0) -> None:
        """Replace a buffer with that of one rank."""
        buffer[...] = self.gather(buffer.copy(), what)[root]


def on_ranks(size: int, work: Callable[[Threads], T], backend: str = "numpy") -> list[T]:
    """Run a function on each of several ranks; return the results, or raise the first error."""
    rendezvous = _Rendezvous(size)

    def run(rank: int) -> T:
        with use_backend(backend):
            try:
                return work(Threads(rank, rendezvous))
            except BaseException:
                rendezvous.barrier.abort()
                raise

    with ThreadPoolExecutor(size) as pool:
        running = [pool.submit(run, rank) for rank in range(size)]
        errors = [each.exception() for each in running]
    for error in errors:
        if error is not None and not isinstance(error, threading.BrokenBarrierError):
            raise error
    return [each.result() for each in running]
