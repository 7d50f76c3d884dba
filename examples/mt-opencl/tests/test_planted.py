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
    """A device on which kernels lack some of their barriers."""

    def __init__(self, missing):
        self.missing = missing
        self.planted = []
        super().__init__()

    def load(self, kernel):
        """Take away the barriers, and compile what is left."""
        barriers = [found.span() for found in re.finditer(BARRIER, kernel.source)]
        for begin, end in reversed(barriers[self.missing]):
            kernel = replace(kernel, source=kernel.source[:begin] + kernel.source[end:])
            self.planted.append(kernel.name)
        return super().load(kernel)


@pytest.mark.parametrize(
    ("kernel", "missing", "compute", "factor"),
    [
        ("add_float64_rows", slice(-1, None), lambda x: x.reshape(-1).sum(), 2.0),
        ("add_float64_rows", slice(None), lambda x: x.reshape(-1).sum(), 3.0),
        ("product_float64", slice(None), lambda x: x @ x, 4.0),
    ],
    ids=["sum, the last", "sum, all", "product, all"],
)
def test_without_a_barrier_results_are_wrong(kernel, missing, compute, factor, device):
    values = np.arange(1.0, 1601.0).reshape(40, 40)
    assert np.array_equal(compute(mt.tensor(values, backend=OpenClOps(device))), compute(values))
    # Nothing clears shared memory: the other values in it must not be right by chance.
    values *= factor
    planted = Planted(missing)
    found = compute(mt.tensor(values, backend=OpenClOps(planted)))
    assert not np.array_equal(found, compute(values))
    assert [name for name in planted.planted if name.startswith(kernel)]
