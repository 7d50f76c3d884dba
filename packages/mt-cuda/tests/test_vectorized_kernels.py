"""Vectorized kernels, which move 16 bytes at a time: results, and supported layouts."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps
from mt_cuda.recording import Recorder


@pytest.fixture(params=["forward", "reversed"])
def machine_and_ops(request):
    """Return a recorder, and a backend on it."""
    machine = Recorder(request.param)
    return machine, CudaOps(machine)


def kernel_names(machine):
    return [launch.kernel.name for launch in machine.record.launches]


@pytest.mark.parametrize("size", [1, 3, 4, 7, 64, 101])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8", "bfloat16"])
def test_vectorized_mul_of_any_size_is_exact(machine_and_ops, size, dtype):
    machine, ops = machine_and_ops
    values = np.arange(size) % 11
    x = mt.tensor(values.tolist(), dtype=dtype, backend=ops)
    assert (x * x).to(mt.int64).tolist() == (values * values).tolist()
    lanes = 16 // x.dtype.itemsize
    assert kernel_names(machine)[0].endswith("_vector") == (size >= lanes)


def test_expanded_element_is_combined_with_every_vector(machine_and_ops):
    machine, ops = machine_and_ops
    x = mt.arange(2.0, 35.0, backend=ops)
    y = x * x[0].expand(33)
    assert y.tolist() == (np.arange(2.0, 35.0) * 2).tolist()
    assert kernel_names(machine)[-1] == "mul_float32_vector"


@pytest.mark.parametrize(("start", "is_vector"), [(0, True), (1, False), (3, False), (4, True)])
def test_unaligned_input_is_not_vectorized(machine_and_ops, start, is_vector):
    machine, ops = machine_and_ops
    x = mt.arange(40.0, backend=ops)[start:]
    machine.record.launches.clear()
    assert (-x).tolist() == (-np.arange(40.0)[start:]).tolist()
    assert kernel_names(machine)[0].endswith("_vector") == is_vector


def test_plain_backend_does_not_vectorize(machine_and_ops):
    machine, _ = machine_and_ops
    x = mt.arange(40.0, backend=CudaOps(machine, plain=True))
    machine.record.launches.clear()
    assert (-x).tolist() == (-np.arange(40.0)).tolist()
    assert kernel_names(machine) == ["neg_float32_contiguous"]
