"""How mt-fast shares an operation between threads: who writes what, how long it takes, if it pays.

Nothing of this is worked out here. The parts are those of the function that mt-fast compiles to
share the units of a kernel, run as Python; what a thread writes is seen by letting it write.
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
"""Of more units than this, those of one thread are one tile."""

SECONDS = 0.03
"""For how long one number of units is measured."""


def most_threads() -> int:
    """Return how many threads Numba may use in this process."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let Numba use so many threads, for the calling thread of Python; then as many as before."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def shared_from(operation: Operation) -> int:
    """Return from how many steps on an operation is shared; see `Operation.steps`."""
    if operation.name == PRODUCT and as_dtype(operation.dtype).is_floating_point:
        return gemm.PARALLEL_FROM
    backend: Any = mt.get_backend("fast")
    return int(backend.parallel_from)


# --- Who writes what ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """Memory that kernels write: the result, or partial results that another kernel folds.

    Attributes:
        tiles: for each element the number of its tile; int64 of shape (rows, columns).
        owners: for each tile, which thread writes it.
        run: the first run that writes there; None if nothing is shared.
    """

    tiles: Array
    owners: list[int]
    run: Run | None = None

    def elements(self) -> dict[int, int]:
        """Return how many elements each thread writes that writes any."""
        found, counts = np.unique(np.take(self.owners, self.tiles), return_counts=True)
        return dict(zip(found.tolist(), counts.tolist(), strict=True))


def written(operation: Operation, count: int) -> list[Written]:
    """Return what so many threads write, in the order of time."""
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
    """Return the memory that a kernel writes: the last that it is given, in a row."""
    return [each for each in run.arguments if isinstance(each, np.ndarray)][-1].reshape(-1)


def touched(run: Run, units: range) -> Array:
    """Return which elements of that memory are written for some units, as bool."""
    bits = target(run).view(f"u{target(run).itemsize}")
    writes = np.zeros(bits.size, bool)
    for before in (0, np.iinfo(bits.dtype).max):  # no number is both
        bits[:] = before
        run.kernel.serial(units.start, units.stop, *run.arguments)
        writes |= bits != before
    return writes


# --- How long it takes --------------------------------------------------------------------------


def times(operation: Operation) -> dict[int, Measured]:
    """Return how long an operation takes with one thread, two and so on; of many some numbers."""
    most, found = most_threads(), {}
    computation = _computation(operation, mt.get_backend("fast"))
    for count in range(1, most + 1):
        if count <= 8 or count == most or count.bit_count() == 1:
            with measuring, threads(count):
                computation()  # which may compile
                found[count] = Measured("fast", times=repeated(computation))
    return found


@dataclass(frozen=True)
class Point:
    """Some units of a kernel: how many steps these are, and the seconds of one and all threads."""

    steps: int
    alone: float
    shared: float


def curve(operation: Operation) -> list[Point]:
    """Return what sharing gains or costs for ever more units, whether mt-fast would do so or not.

    There is nothing to compare if one thread is all there is, or mt-fast has no kernel for it.
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
