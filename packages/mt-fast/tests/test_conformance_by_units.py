"""Conformance tests of primitives, with the units of each kernel run singly in reverse order.

Threads share the units of a kernel and may run them in any order, so these tests cover any number
of threads.
"""

import pytest

import mt_tensor as mt
from mt_fast.core import elementwise, loops, reductions
from mt_fast.core.kernel import Kernel
from mt_fast.folds import kernels, parts, reduce
from mt_tensor.conformance.test_primitives import *  # noqa: F403


@pytest.fixture(scope="session")
def backend_name():
    return "fast"


@pytest.fixture(autouse=True)
def single_units(monkeypatch):
    """Treat every tensor as large, and split work into single units."""

    def run(kernel, units, parallel, *arguments):
        for unit in reversed(range(units)):
            kernel.serial(unit, unit + 1, *arguments)

    monkeypatch.setattr(Kernel, "run", run)
    monkeypatch.setattr(loops, "WORTH_A_KERNEL", 0)
    monkeypatch.setattr(loops, "MIN_PIECE", 7)
    monkeypatch.setattr(parts, "SHARE", 5)
    monkeypatch.setattr(kernels, "COLUMNS", 4)
    monkeypatch.setattr(mt.get_backend("fast"), "parallel_from", 1)
    caches = (elementwise.planned, reductions.planned, reduce.planned, loops.loop_over)
    for planned in caches:
        planned.cache_clear()
    yield
    for planned in caches:
        planned.cache_clear()
