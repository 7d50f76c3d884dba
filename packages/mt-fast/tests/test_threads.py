"""Programs that fork or start threads, and the distribution of work among threads."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from mt_fast.core.kernel import Kernel
from mt_fast.core.tables import THREADS
from mt_fast.threads import workers as threads

PROGRAM = """
import os, threading
import mt_tensor as mt

def total():
    with mt.use_backend("fast"):
        x = mt.arange(1_000_000, dtype="float64")
        return (x * 2.0).sum().item()

expected = 999_999_000_000.0
assert total() == expected
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        os._exit(0 if total() == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
results = []
threads = [threading.Thread(target=lambda: results.extend(total() for _ in range(20)))
           for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert results == [expected] * 80
print("done")
"""


@pytest.mark.parametrize("layer", ["default", "workqueue"])
def test_forked_and_threaded_programs_give_correct_results(layer):
    environment = {**os.environ, "NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"}
    completed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert completed.stdout == "done\n", completed.stderr


FIRST_USE_PROGRAM = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import mt_tensor as mt

sys.setswitchinterval(1e-6)
barrier = threading.Barrier(6)

def first(_):
    barrier.wait()
    x = mt.arange(12, dtype="float32", backend="fast").view(3, 4).requires_grad_()
    (x.tanh().sum(0) * x.softmax(1)[0]).sum().backward()
    return x.grad.tolist()

with ThreadPoolExecutor(6) as pool:
    found = list(pool.map(first, range(6)))
assert found == [found[0]] * 6, found
print("done")
"""


@pytest.mark.slow
def test_threads_that_first_use_the_backend_simultaneously_agree(tmp_path):
    """Each thread imports and creates the backend, and compiles and caches the same kernels."""
    completed = subprocess.run(
        [sys.executable, "-W", "error", "-c", FIRST_USE_PROGRAM],
        env={**os.environ, "MT_FAST_CACHE": str(tmp_path / "kernels")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert completed.stdout == "done\n", completed.stderr


def _fill(lo, hi, part, units, out):
    for i in range(lo, hi):
        out[i] = part[0] + units


def test_kernel_arguments_can_have_any_name():
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    out = np.zeros(6)
    Kernel.of(_fill).run(6, True, (5, 7), 2.0, out)
    numba.set_num_threads(before)
    assert out.tolist() == [7.0] * 6


def _count_units(lo, hi, done, starts):
    starts[lo] += 1
    for i in range(lo, hi):
        done[i] += 1


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
def test_units_are_distributed_evenly_among_threads(threads, monkeypatch):
    """There may be more threads than processors."""
    monkeypatch.setitem(THREADS, "count", lambda: threads)
    kernel = Kernel.of(_count_units)
    for units in (1, 2, 3, 6, 7, 8, 63, 1000):
        done, starts = np.zeros(units, int), np.zeros(units, int)
        kernel.run(units, True, done, starts)
        assert done.tolist() == [1] * units
        boundaries = [*np.flatnonzero(starts), units]
        assert starts.sum() == len(boundaries) - 1 == min(threads, units)
        assert np.ptp(np.diff(boundaries)) <= 1
        kernel.run(units, False, done, starts)
        assert done.tolist() == [2] * units


def test_parallel_function_is_compiled_once():
    kernel = Kernel.of(_count_units)
    assert kernel.parallel is kernel.parallel


def test_tests_run_with_at_least_two_threads():
    """This holds even on a machine with one processor: see the repository's conftest.py."""
    assert numba.config.NUMBA_NUM_THREADS >= 2


def test_threads_that_start_at_once_get_the_same_lock(monkeypatch):
    barrier = threading.Barrier(2)

    def layer():
        barrier.wait(10)
        return "workqueue"

    monkeypatch.setattr(threads, "_layer", layer)
    threads.work_lock.cache_clear()
    try:
        with ThreadPoolExecutor(2) as pool:
            one, other = pool.map(lambda _: threads.work_lock(), range(2))
    finally:
        threads.work_lock.cache_clear()
    assert one is not None
    assert one is other
