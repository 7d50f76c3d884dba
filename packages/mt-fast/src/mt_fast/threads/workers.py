"""Use Numba's threads safely in forked and threaded programs, with suitable waiting times.

`numba.set_num_threads` sets how many threads a loop may use, at most `NUMBA_NUM_THREADS`, an
environment variable whose default is the number of processors. Numba has three ways to run threads
(its *layers*: TBB, OpenMP, and a work queue of its own), and takes the first that is installed. Two
of them terminate ordinary programs: GNU's OpenMP if a forked child uses it, and the work queue if
two threads of Python do. This module prevents both.
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
"""How OpenMP's threads wait for work: they spin for about the time between two loops of a training
step, one or two hundred microseconds, and then sleep.

Waking a thread that sleeps takes longer than half a million additions. By default threads spin for
milliseconds, and on a machine with other work each loop waits for a thread that has lost its
processor because of that. (The first is for GNU's library, in iterations of a loop; the second for
LLVM's, in milliseconds.)"""


@functools.cache
def start_threads() -> None:
    """Start Numba's threads, so that they wait for work as `WAITING` defines.

    The settings are read when the threads start, and are restored for libraries that are loaded
    later. If the user has set one of these or `OMP_WAIT_POLICY`, that choice is kept.
    """
    free = {} if {*WAITING, "OMP_WAIT_POLICY"} & set(os.environ) else WAITING
    os.environ.update(free)
    numba.get_num_threads()
    for name in free:
        del os.environ[name]
    # The public function checks every time that threads are started, and takes two locks.
    _process.count = getattr(numba.np.ufunc.parallel, "_get_num_threads", None) or _process.count
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_process.fork)


def thread_count() -> int:
    """Return how many threads a loop may use now."""
    return 1 if _process.alone else _process.count()


@functools.cache
def work_lock() -> threading.Lock | None:
    """Return the lock to hold while threads are at work; None unless the work queue needs one."""
    return _process.lock if _layer() == "workqueue" else None


def share(launch: Callable[..., None], *arguments: Any) -> None:
    """Call a function whose work threads share; lock if the threading layer requires it."""
    lock = work_lock()
    if lock is None:
        launch(*arguments)
    else:
        with lock:
            launch(*arguments)


class _Process:
    """The state that differs between a process and a forked child.

    Attributes:
        alone: whether there are no threads, although Numba assumes that there are.
        lock: held while threads of the work queue are at work.
        count: returns how many threads Numba may use.
    """

    def __init__(self, alone: bool) -> None:
        self.alone = alone
        self.lock = threading.Lock()
        self.count: Callable[[], int] = numba.get_num_threads

    def fork(self) -> None:
        """Reset the state in a child, which has neither the threads nor the owner of the lock."""
        self.__init__(_layer() == "omp")  # type: ignore[misc]
        work_lock.cache_clear()


_process = _Process(alone=False)


def _layer() -> str:
    layer: str = numba.threading_layer()  # type: ignore[attr-defined]
    return layer


START.append(start_threads)
THREADS.update(count=thread_count, launch=share)
