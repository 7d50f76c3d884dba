"""Kernels that move 16 bytes at a time: supported layouts, and results."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps
from mt_cuda.recording import Recorder


@pytest.fixture(params=["forward", "reversed"])
def there(request):
    """The machine, and the backend on it."""
    machine = Recorder(request.param)
    return machine, CudaOps(machine)


def kernels(machine):
    return [launch.kernel.name for launch in machine.record.launches]


@pytest.mark.parametrize("size", [1, 3, 4, 7, 64, 101])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "bfloat16"])
def test_every_element_is_computed_once(there, size, dtype):
    machine, ops = there
    values = np.arange(size) % 11
    x = mt.tensor(values.tolist(), dtype=dtype, backend=ops)
    assert (x * x).to(mt.int64).tolist() == (values * values).tolist()
    lanes = 16 // x.dtype.itemsize
    assert kernels(machine)[0].endswith("_vector") == (size >= lanes)


def test_a_single_element_is_combined_with_every_vector(there):
    machine, ops = there
    x = mt.arange(2.0, 35.0, backend=ops)
    y = x * x[0].expand(33)
    assert y.tolist() == (np.arange(2.0, 35.0) * 2).tolist()
    assert kernels(machine)[-1] == "mul_float32_vector"


@pytest.mark.parametrize(("start", "is_vector"), [(0, True), (1, False), (3, False), (4, True)])
def test_unaligned_elements_are_moved_one_by_one(there, start, is_vector):
    machine, ops = there
    x = mt.arange(40.0, backend=ops)[start:]
    machine.record.launches.clear()
    assert (-x).tolist() == (-np.arange(40.0)[start:]).tolist()
    assert kernels(machine)[0].endswith("_vector") == is_vector


def test_plain_kernels_move_one_element(there):
    machine, _ = there
    x = mt.arange(40.0, backend=CudaOps(machine, plain=True))
    machine.record.launches.clear()
    assert (-x).tolist() == (-np.arange(40.0)).tolist()
    assert kernels(machine) == ["neg_float32_contiguous"]
