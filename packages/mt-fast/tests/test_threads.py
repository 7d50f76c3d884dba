"""Programs that fork, or have threads of their own, get the same results and do not end."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from mt_fast.compilation.kernel import Kernel

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
