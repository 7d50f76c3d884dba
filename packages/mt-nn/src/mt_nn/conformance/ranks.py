"""Ranks that are threads of one process: for tests of what several do together, without MPI."""

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
"""For how many seconds a rank waits for the others."""


class _Meeting:
    """Where so many threads meet, and what each of them brings."""

    def __init__(self, size: int) -> None:
        self.barrier = threading.Barrier(size, timeout=PATIENCE)
        self.brought: list[Any] = [None] * size


class Threads(Group):
    """A group whose ranks are threads.

    Attributes:
        operations: what has been done together, by name.
    """

    def __init__(self, rank: int, meeting: _Meeting) -> None:
        self.rank, self.size, self._meeting = rank, len(meeting.brought), meeting
        self.operations: list[str] = []

    def gather(self, value: T, what: str) -> list[T]:
        """Return the values that all ranks have given, which must do the same."""
        self.operations.append(what)
        self._meeting.brought[self.rank] = what, value
        self._meeting.barrier.wait()
        everybodys = list(self._meeting.brought)
        self._meeting.barrier.wait()
        others = {name for name, _ in everybodys} - {what}
        if others:
            raise RankError(f"one rank does {what}, and another {', '.join(others)}.")
        return [given for _, given in everybodys]

    def start_sum(self, buffer: Array, what: str) -> Pending:
        """Replace a buffer by its sum over all ranks."""
        buffer[...] = np.sum(self.gather(buffer.copy(), what), axis=0)
        return Pending()

    def broadcast(self, buffer: Array, what: str, root: int = 0) -> None:
        """Replace a buffer by that of one rank."""
        buffer[...] = self.gather(buffer.copy(), what)[root]


def on_ranks(size: int, work: Callable[[Threads], T], backend: str = "numpy") -> list[T]:
    """Return what `work` returns on each of so many ranks; raise what one of them raises."""
    meeting = _Meeting(size)

    def run(rank: int) -> T:
        with use_backend(backend):
            try:
                return work(Threads(rank, meeting))
            except BaseException:
                meeting.barrier.abort()
                raise

    with ThreadPoolExecutor(size) as pool:
        running = [pool.submit(run, rank) for rank in range(size)]
        errors = [each.exception() for each in running]
    for error in errors:
        if error is not None and not isinstance(error, threading.BrokenBarrierError):
            raise error
    return [each.result() for each in running]
