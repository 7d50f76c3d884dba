"""Programs that fork, or start threads, get the same results and are not terminated."""

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
def test_forked_and_threaded_programs(layer):
    environment = {**os.environ, "NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


TOGETHER = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
import mt_tensor as mt

sys.setswitchinterval(1e-6)
together = threading.Barrier(6)

def first(_):
    together.wait()
    x = mt.arange(12, dtype="float32", backend="fast").view(3, 4).requires_grad_()
    (x.tanh().sum(0) * x.softmax(1)[0]).sum().backward()
    return x.grad.tolist()

with ThreadPoolExecutor(6) as pool:
    found = list(pool.map(first, range(6)))
assert found == [found[0]] * 6, found
print("done")
"""


@pytest.mark.slow
def test_several_threads_may_use_the_backend_first_at_once(tmp_path):
    """They import it, create it, and compile and store the same kernels."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", TOGETHER],
        env={**os.environ, "MT_FAST_CACHE": str(tmp_path / "kernels")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


def _filled(lo, hi, part, units, out):
    for i in range(lo, hi):
        out[i] = part[0] + units


def test_arguments_of_a_kernel_may_have_any_names():
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    out = np.zeros(6)
    Kernel.of(_filled).run(6, True, (5, 7), 2.0, out)
    numba.set_num_threads(before)
    assert out.tolist() == [7.0] * 6


def _noted(lo, hi, done, firsts):
    firsts[lo] += 1
    for i in range(lo, hi):
        done[i] += 1


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
def test_threads_share_all_units_evenly(threads, monkeypatch):
    """For any number of threads: with more than the machine has, they take turns."""
    monkeypatch.setitem(THREADS, "count", lambda: threads)
    noted = Kernel.of(_noted)
    for units in (1, 2, 3, 6, 7, 8, 63, 1000):
        done, firsts = np.zeros(units, int), np.zeros(units, int)
        noted.run(units, True, done, firsts)
        assert done.tolist() == [1] * units
        ends = [*np.flatnonzero(firsts), units]
        assert firsts.sum() == len(ends) - 1 == min(threads, units)
        assert np.ptp(np.diff(ends)) <= 1
        noted.run(units, False, done, firsts)
        assert done.tolist() == [2] * units


def test_the_parallel_function_is_compiled_once():
    noted = Kernel.of(_noted)
    assert noted.parallel is noted.parallel


def test_there_are_two_threads_to_test_with():
    """Also on one processor: see the conftest of the repository."""
    assert numba.config.NUMBA_NUM_THREADS >= 2


def test_threads_that_start_at_once_get_one_lock(monkeypatch):
    together = threading.Barrier(2)

    def layer():
        together.wait(10)
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
