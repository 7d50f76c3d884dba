"""Threads: Numba's, shared by all kernels.

How many loops may use is `numba.set_num_threads`, at most the environment variable
`NUMBA_NUM_THREADS`, which is the number of processors if nobody has set it. Numba has three ways to
run threads (its *layers*: TBB, OpenMP, and a work queue of its own), and takes the first that is
installed. Two of them end the process in programs that are nothing special: GNU's OpenMP if a
forked child uses it, and the work queue if two threads of Python do. This module sees to it that
neither happens.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from contextlib import AbstractContextManager

import numba


@functools.cache
def start_threads() -> None:
    """Start Numba's threads, which sleep while they wait for work.

    OpenMP's threads would rather spin, and on a machine with other work to do each parallel loop
    then waits for a thread that has lost its processor: a few microseconds become ten milliseconds.
    The setting is read when the threads start, and is put back for libraries loaded later. Whoever
    has set it keeps their choice.
    """
    chosen = "OMP_WAIT_POLICY" in os.environ
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    numba.get_num_threads()
    if not chosen:
        del os.environ["OMP_WAIT_POLICY"]
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_process.fork)


def thread_count() -> int:
    """Return how many threads a loop may use now."""
    return 1 if _process.alone else numba.get_num_threads()


def launching() -> AbstractContextManager[object]:
    """Return what must be held while threads are at work: nothing, or a lock."""
    return _process.turns if _layer() == "workqueue" else _NO_TURNS


class _Process:
    """What differs between a process and a forked child of it.

    Attributes:
        alone: whether there are no threads, although Numba believes that there are.
        turns: a lock for a layer that serves one thread of Python at a time.
    """

    def __init__(self, alone: bool) -> None:
        self.alone = alone
        self.turns = threading.Lock()

    def fork(self) -> None:
        """Become the child: its parent's threads are not there, nor whoever held the lock."""
        self.__init__(_layer() == "omp")  # type: ignore[misc]


_process = _Process(alone=False)
_NO_TURNS = contextlib.nullcontext()


def _layer() -> str:
    layer: str = numba.threading_layer()  # type: ignore[attr-defined]
    return layer
