"""Removing a barrier from a kernel makes its results wrong.

The simulator of mt-cuda detects and names such faults. PoCL runs the threads of a block one after
the other from barrier to barrier, so a missing barrier always changes the results, except before a
loop that contains barriers: PoCL adds one there.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from mt_opencl import Device, OpenClOps

import mt_tensor as mt

BARRIER = r"\n *cuda\.syncthreads\(\)"


class WithoutBarriers(Device):
    """Device that removes some barriers of each kernel.

    Attributes:
        missing: the slice of the barriers to remove.
        changed: the names of the kernels that lost a barrier.
    """

    def __init__(self, missing):
        self.missing = missing
        self.changed = []
        super().__init__()

    def load(self, kernel):
        """Remove the barriers and compile the kernel."""
        barriers = [found.span() for found in re.finditer(BARRIER, kernel.source)]
        for begin, end in reversed(barriers[self.missing]):
            kernel = replace(kernel, source=kernel.source[:begin] + kernel.source[end:])
            self.changed.append(kernel.name)
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
def test_kernel_without_a_barrier_gives_wrong_results(kernel, missing, compute, factor, device):
    values = np.arange(1.0, 1601.0).reshape(40, 40)
    assert np.array_equal(compute(mt.tensor(values, backend=OpenClOps(device))), compute(values))
    # Shared memory is not cleared: use other values, so that stale ones are not right by chance.
    values *= factor
    faulty = WithoutBarriers(missing)
    found = compute(mt.tensor(values, backend=OpenClOps(faulty)))
    assert not np.array_equal(found, compute(values))
    assert [name for name in faulty.changed if name.startswith(kernel)]
