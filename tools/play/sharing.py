"""How mt-fast divides an operation among threads: what each writes, the time, and the speed-up.

All of this is observed. The parts come from the function that mt-fast compiles to divide the units
of a kernel, run as Python; the elements that a thread writes are found by running its part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba
import numpy as np

import mt_tensor as mt
from mt_fast.core.backend import FastOps
from mt_fast.gemm import gemm
from mt_tensor.extending import Array, as_dtype, size_of
from play.comparison import PRODUCT, Measured, Operation, measuring, repeated
from play.compiled import Run, runs_of

MOST_TILES = 64
"""With more units than this, all units of a thread are shown as one tile."""

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
    """Return from how many `Operation.steps` an operation runs in parallel."""
    if operation.name == PRODUCT and as_dtype(operation.dtype).is_floating_point:
        return gemm.PARALLEL_FROM
    backend: Any = mt.get_backend("fast")
    return int(backend.parallel_from)


# --- Writes of threads ------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """Memory that kernels write: the result, or partial results that another kernel reduces.

    Attributes:
        tiles: the tile number of each element; int64 of shape (rows, columns).
        owners: the thread that writes each tile.
        run: the first run that writes to it; None if nothing runs in parallel.
    """

    tiles: Array
    owners: list[int]
    run: Run | None = None

    def elements(self) -> dict[int, int]:
        """Return the number of elements that each thread writes, for threads that write."""
        found, counts = np.unique(np.take(self.owners, self.tiles), return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))


def written(operation: Operation, count: int) -> list[Written]:
    """Return the memory that a number of threads writes, in chronological order."""
    with threads(count):
        runs, result = runs_of(_computation(operation, mt.get_backend("fast")))
    columns = size_of(result.shape[-1:])
    if all(run.parts == 1 for run in runs):
        return [Written(_rows(np.zeros(result.numel(), np.int64), columns), [0])]
    found: dict[int, Written] = {}
    for run in runs:
        size = target(run).size
        tiles = _rows(np.full(size, -1), columns if size == result.numel() else result.numel())
        into = found.setdefault(target(run).ctypes.data, Written(tiles, [], run))
        for thread, share in enumerate(run.shares()):
            few = run.units <= MOST_TILES
            for units in [range(u, u + 1) for u in share] if few else [share]:
                into.tiles.reshape(-1)[touched(run, units)] = len(into.owners)
                into.owners.append(thread)
    return list(found.values())


def _rows(tiles: Array, columns: int) -> Array:
    return tiles.reshape((-1, columns) if columns > 1 else (1, -1))


def target(run: Run) -> Array:
    """Return the memory that a kernel writes, its last array argument, flattened."""
    return [each for each in run.arguments if isinstance(each, np.ndarray)][-1].reshape(-1)


def touched(run: Run, units: range) -> Array:
    """Return the elements of that memory that some units write, as a bool array."""
    bits = target(run).view(f"u{target(run).itemsize}")
    writes = np.zeros(bits.size, bool)
    for before in (0, np.iinfo(bits.dtype).max):  # no result equals both
        bits[:] = before
        run.kernel.serial(units.start, units.stop, *run.arguments)
        writes |= bits != before
    return writes


# --- Times --------------------------------------------------------------------------------------


def times(operation: Operation) -> dict[int, Measured]:
    """Return the times with different numbers of threads: all up to 8, then powers of two."""
    most, found = most_threads(), {}
    computation = _computation(operation, mt.get_backend("fast"))
    for count in range(1, most + 1):
        if count <= 8 or count == most or count.bit_count() == 1:
            with measuring, threads(count):
                computation()  # may compile
                found[count] = Measured("fast", times=repeated(computation))
    return found


@dataclass(frozen=True)
class Point:
    """The times of a number of units of a kernel, in steps and seconds, on one and all threads."""

    steps: int
    alone: float
    shared: float


def curve(operation: Operation) -> list[Point]:
    """Return the times of increasing numbers of units on one and all threads.

    It is empty if there is only one thread, or mt-fast has no kernel for the operation.
    """
    backend = FastOps()
    backend.parallel_from = 1
    runs, _ = runs_of(_computation(operation, backend))
    run = next((run for run in runs if run.units > 1), None)
    found: list[Point] = []
    if run is None or most_threads() == 1:
        return found
    for units in (run.units >> k for k in reversed(range(run.units.bit_length() - 1))):
        calls = [partial(run.kernel.run, units, both, *run.arguments) for both in (False, True)]
        with measuring:
            seconds = [min(repeated(call, SECONDS)) for call in calls]
        found.append(Point(operation.steps() * units // run.units, *seconds))
    return found


def _computation(operation: Operation, backend: Any) -> Callable[[], Any]:
    return operation.function([mt.tensor(array, backend=backend) for array in operation.arrays()])
