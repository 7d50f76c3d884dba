"""Reuse of freed device memory, by itself and on a mock GPU."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_cuda import CudaOps
from mt_cuda.memory.reuse import SMALLEST, Reuse, rounded


class Resource:
    """A mock memory resource that records sizes."""

    def __init__(self):
        self.sizes = []

    def allocate(self, size, stream):
        self.sizes.append(size)
        return SimpleNamespace(handle=1000 * len(self.sizes))


def test_freed_memory_is_reused():
    reuse = Reuse(resource := Resource())
    first, second = (reuse.allocate(size, None) for size in (5000, 5000))
    assert first.handle != second.handle
    handle = second.handle
    del second
    assert reuse.allocate(4999, None).handle == handle  # it is freed again at once
    assert reuse.allocate(9000, None).handle not in {handle, first.handle}
    assert resource.sizes == [5120, 5120, 9216]
    reuse.forget()
    assert reuse.allocate(5000, None).handle == 4000
    assert len(resource.sizes) == 4


@given(st.integers(1, 1 << 50))
def test_size_is_rounded_up_by_at_most_an_eighth(size):
    result = rounded(size)
    assert size <= result
    assert result % SMALLEST == 0
    assert result < size * 9 / 8 or result < size + SMALLEST
    assert rounded(result) == result


@pytest.fixture
def mock_gpu(make_mock_gpu):
    return make_mock_gpu("cubin")


def test_repeated_training_step_allocates_no_new_memory(mock_gpu):
    machine, gpu = mock_gpu
    weights = mt.ones(8, 4, backend=CudaOps(machine), requires_grad=True)
    x = mt.ones(3, 8, backend=weights.backend)

    def step():
        (x @ weights).tanh().sum().backward()
        weights.grad = None

    step()
    allocated = gpu.allocated
    for _ in range(3):
        step()
    assert gpu.allocated == allocated


def test_reused_memory_holds_the_last_upload(mock_gpu):
    machine, _ = mock_gpu
    for value in range(5):
        memory = machine.upload(np.full(100, value, "f4"))
        assert machine.download(memory, 100).tolist() == [value] * 100
