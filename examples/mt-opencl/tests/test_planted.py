"""Blocks have threads that wait for each other: without a barrier results are wrong here.

The simulator of mt-cuda finds such faults and names them. PoCL runs the threads of a block one
after the other from barrier to barrier, so that a missing one shows every time. (It puts one of its
own before a loop that has some, and there a missing one does not show.)
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from mt_opencl import Device, OpenClOps

import mt_tensor as mt

BARRIER = r"\n *cuda\.syncthreads\(\)"


class Planted(Device):
    """A device on which kernels lack the last of their barriers, which is inside a loop."""

    def __init__(self):
        self.planted = []
        super().__init__()

    def load(self, kernel):
        """Take away the barrier, and compile what is left."""
        barriers = list(re.finditer(BARRIER, kernel.source))
        if barriers:
            begin, end = barriers[-1].span()
            kernel = replace(kernel, source=kernel.source[:begin] + kernel.source[end:])
            self.planted.append(kernel.name)
        return super().load(kernel)


@pytest.mark.parametrize(
    ("kernel", "compute"),
    [
        ("add_float64_rows", lambda x: x.reshape(-1).sum()),
        ("product_float64", lambda x: x @ x),
    ],
    ids=["sum", "product"],
)
def test_without_a_barrier_results_are_wrong(kernel, compute, device):
    values = np.arange(1.0, 401.0).reshape(20, 20)
    expected = compute(values)
    assert np.array_equal(compute(mt.tensor(values, backend=OpenClOps(device))), expected)
    planted = Planted()
    ops = OpenClOps(planted)
    # Shared memory is not cleared: what is left there of other work must not be right by chance.
    compute(mt.zeros(20, 20, dtype=mt.float64, backend=ops)).tolist()
    assert not np.array_equal(compute(mt.tensor(values, backend=ops)), expected)
    assert [name for name in planted.planted if name.startswith(kernel)]
