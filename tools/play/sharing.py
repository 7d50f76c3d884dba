"""How mt-fast divides an operation among threads: what each writes, the time, and the speed-up.

All of this is observed: the elements that a thread writes are found by running its part.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np

import mt_tensor as mt
from mt_fast.core.backend import FastOps
from mt_fast.gemm import gemm
from mt_tensor.extending import Array, Shape, as_dtype, size_of
from play.comparison import PRODUCT, Measured, Operation, repeated
from play.compiled import Run, runs_of

SECONDS = 0.03
"""The time to measure one number of units, in seconds."""


def most_threads() -> int:
    """Return the maximum number of Numba's threads in this process."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Set the number of Numba's threads within a block, for the calling Python thread."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def shared_from(operation: Operation) -> int:
    """Return the number of `Operation.steps` from which an operation runs in parallel."""
    if operation.name == PRODUCT and as_dtype(operation.dtype).is_floating_point:
        return gemm.PARALLEL_FROM
    backend: Any = mt.get_backend("fast")
    return int(backend.parallel_from)


# --- Writes of threads ------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """Memory that kernels write: the result, or partial results that another kernel reduces.

    Attributes:
        owners: the thread that writes each element; int64 of shape (rows, columns).
        run: the first run that writes to it; None if nothing runs in parallel.
    """

    owners: Array
    run: Run | None = None

    def elements(self) -> dict[int, int]:
        """Return the number of elements that each thread writes, for threads that write."""
        found, counts = np.unique(self.owners, return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))


def written(operation: Operation, count: int) -> list[Written]:
    """Return the memory that a number of threads writes, in chronological order."""
    with threads(count):
        runs, result = runs_of(operation.on("fast"))
    if all(run.parts == 1 for run in runs):
        return [Written(_rows(np.zeros(result.numel(), np.int64), result.shape))]
    found: dict[int, Written] = {}
    for run in runs:
        size = target(run).size
        shape = result.shape if size == result.numel() else (size,)
        into = found.setdefault(
            target(run).ctypes.data, Written(_rows(np.zeros(size, np.int64), shape), run)
        )
        for thread, units in enumerate(run.shares()):
            into.owners.reshape(-1)[touched(run, units)] = thread
    return list(found.values())


def _rows(owners: Array, shape: Shape) -> Array:
    """Return elements as rows; a column is one row, too."""
    columns = size_of(shape[-1:])
    return owners.reshape((-1, columns) if columns > 1 else (1, -1))


def target(run: Run) -> Array:
    """Return the memory that a kernel writes, its last array argument, flattened."""
    return [each for each in run.arguments if isinstance(each, np.ndarray)][-1].reshape(-1)


def touched(run: Run, units: range) -> Array:
    """Return which elements of `target` some units write, as a bool array."""
    bits = target(run).view(f"u{target(run).itemsize}")
    writes = np.zeros(bits.size, bool)
    for before in (0, np.iinfo(bits.dtype).max):  # no result equals both
        bits[:] = before
        run.kernel.serial(units.start, units.stop, *run.arguments)
        writes |= bits != before
    return writes


# --- Times --------------------------------------------------------------------------------------


def times(operation: Operation) -> dict[int, Measured]:
    """Return the times with powers of two, and with all threads."""
    most, found = most_threads(), {}
    computation = operation.on("fast")
    for count in sorted({2**k for k in range(most.bit_length())} | {most}):
        with threads(count):
            computation()  # may compile
            found[count] = Measured("fast", times=repeated(computation))
    return found


Point = tuple[int, float, float]
"""The steps of some units of a kernel, and their times in seconds on one and on all threads."""


def curve(operation: Operation) -> list[Point]:
    """Return the times of increasing numbers of units on one and all threads.

    It is empty if there is only one thread, or mt-fast has no kernel for the operation.
    """
    backend = FastOps()
    backend.parallel_from = 1
    runs, _ = runs_of(operation.on(backend))
    run = next((run for run in runs if run.units > 1), None)
    found: list[Point] = []
    if run is None or most_threads() == 1:
        return found
    for units in (run.units >> k for k in reversed(range(run.units.bit_length() - 1))):
        calls = [partial(run.kernel.run, units, both, *run.arguments) for both in (False, True)]
        seconds = [min(repeated(call, SECONDS)) for call in calls]
        found.append((operation.steps() * units // run.units, seconds[0], seconds[1]))
    return found
