"""Reuse of freed memory, on a mock GPU and by itself."""

import gc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_cuda import CudaOps
from mt_cuda.core.errors import OutOfMemoryError
from mt_cuda.memory.reuse import SMALLEST, Reuse, rounded
from mt_tensor import float32


class Resource:
    """A mock memory resource that records the sizes."""

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
    assert reuse.allocate(4999, None).handle == handle  # and freed again
    assert reuse.allocate(9000, None).handle not in {handle, first.handle}
    assert resource.sizes == [5120, 5120, 9216]
    reuse.forget()
    assert reuse.allocate(5000, None).handle == 4000
    assert len(resource.sizes) == 4


@given(st.integers(1, 1 << 50))
def test_sizes_are_rounded_by_an_eighth_at_most(size):
    taken = rounded(size)
    assert size <= taken
    assert taken % SMALLEST == 0
    assert taken < size * 9 / 8 or taken < size + SMALLEST
    assert rounded(taken) == taken


@pytest.fixture
def there(pretend):
    return pretend("cubin")


def test_a_repeated_training_step_allocates_no_new_memory(there):
    machine, gpu = there
    weights = mt.ones(8, 4, backend=CudaOps(machine), requires_grad=True)
    x = mt.ones(3, 8, backend=weights.backend)

    def step():
        (x @ weights).tanh().sum().backward()
        weights.grad = None

    step()
    taken = gpu.taken
    for _ in range(3):
        step()
    assert gpu.taken == taken


def test_cached_memory_is_freed_before_out_of_memory_is_raised(there):
    machine, gpu = there
    pieces = [machine.allocate(count, float32) for count in range(10_000, 60_000, 10_000)]
    del pieces
    gc.collect()
    assert gpu.taken > 500_000
    assert machine.allocate(180_000, float32).count == 180_000
    with pytest.raises(OutOfMemoryError):
        machine.allocate(300_000, float32)


def test_reused_memory_has_the_last_values(there):
    machine, _ = there
    for value in range(5):
        memory = machine.upload(np.full(100, value, "f4"))
        assert machine.download(memory, 100).tolist() == [value] * 100
