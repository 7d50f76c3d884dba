"""Use Numba's threads safely in forked and threaded programs, and let them wait as long as pays.

`numba.set_num_threads` sets how many threads a loop may use, at most `NUMBA_NUM_THREADS`, an
environment variable whose default is the number of processors. Numba has three ways to run threads
(its *layers*: TBB, OpenMP, and a work queue of its own), and takes the first that is installed. Two
of them end the process of quite ordinary programs: GNU's OpenMP if a forked child uses it, and the
work queue if two threads of Python do. This module prevents both.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

import numba

from mt_fast.core.tables import START, THREADS

WAITING = {"GOMP_SPINCOUNT": "10000", "KMP_BLOCKTIME": "1"}
"""How OpenMP's threads wait for work: they look for it as long as a step of training mostly needs
from one loop to the next, a hundred microseconds or two, and then sleep.

A thread that sleeps has to be woken, which takes longer than half a million additions. By default
they look for milliseconds, and on a machine with other work to do each loop waits for a thread that
has so lost its processor. (The first is for GNU's library, iterations of a loop; the second for
LLVM's, milliseconds.)
"""


@functools.cache
def start_threads() -> None:
    """Start Numba's threads, so that they wait for work as `WAITING` says.

    The settings are read when the threads start, and are put back for libraries loaded later.
    Whoever has chosen, by one of these or by `OMP_WAIT_POLICY`, keeps their choice.
    """
    free = {} if {*WAITING, "OMP_WAIT_POLICY"} & set(os.environ) else WAITING
    os.environ.update(free)
    numba.get_num_threads()
    for name in free:
        del os.environ[name]
    # The public function sees to it each time that there are threads, behind two locks.
    _process.count = getattr(numba.np.ufunc.parallel, "_get_num_threads", None) or _process.count
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_process.fork)


def thread_count() -> int:
    """Return how many threads a loop may use now."""
    return 1 if _process.alone else _process.count()


@functools.cache
def work_lock() -> threading.Lock | None:
    """Return what must be held while threads are at work: None, or a lock of the work queue's."""
    return _process.lock if _layer() == "workqueue" else None


def share(launch: Callable[..., None], *arguments: Any) -> None:
    """Call a function that lets threads share its work, one call at a time where that must be."""
    lock = work_lock()
    if lock is None:
        launch(*arguments)
    else:
        with lock:
            launch(*arguments)


class _Process:
    """What differs between a process and a forked child of it.

    Attributes:
        alone: whether there are no threads, although Numba believes that there are.
        lock: held while threads of the work queue are at work.
        count: returns how many threads Numba may use.
    """

    def __init__(self, alone: bool) -> None:
        self.alone = alone
        self.lock = threading.Lock()
        self.count: Callable[[], int] = numba.get_num_threads

    def fork(self) -> None:
        """Become the child: its parent's threads are not there, nor whoever held the lock."""
        self.__init__(_layer() == "omp")  # type: ignore[misc]
        work_lock.cache_clear()


_process = _Process(alone=False)


def _layer() -> str:
    layer: str = numba.threading_layer()  # type: ignore[attr-defined]
    return layer


START.append(start_threads)
THREADS.update(count=thread_count, launch=share)
