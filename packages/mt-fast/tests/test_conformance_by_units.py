"""Conformance tests of primitives, with the units of each kernel run singly in reverse order.

Threads share the units of a kernel and may run them in any order, so these tests cover any number
of threads.
"""

import pytest

from mt_fast.core.kernel import Kernel
from mt_tensor.conformance.test_primitives import *  # noqa: F403


@pytest.fixture(scope="session")
def backend_name():
    return "fast"


@pytest.fixture(autouse=True)
def single_units(no_thresholds, monkeypatch):
    """Run the units of each kernel singly, in reverse order."""

    def run(kernel, units, parallel, *arguments):
        for unit in reversed(range(units)):
            kernel.serial(unit, unit + 1, *arguments)

    monkeypatch.setattr(Kernel, "run", run)
