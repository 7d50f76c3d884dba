"""arange(), which the device computes."""

import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.recording import Recorder
from mt_tensor.extending import FUSED


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "uint64", "float32", "bfloat16"])
@pytest.mark.parametrize("order", ["forward", "reversed"])
@pytest.mark.parametrize(
    "bounds", [(0, 5), (9, -4, -2), (100, 20, -7), (0.5, 3.0, 1.5), (1.0, 4.0), (0, 40), (3, 3)]
)
def test_arange_matches_numpy_backend(bounds, dtype, order):
    if min(bounds[:2]) < 0 and dtype.startswith("u"):
        bounds = (9, 0, -2)
    ours = mt.arange(*bounds, dtype=dtype, backend=CudaOps(Simulator(order)))
    theirs = mt.arange(*bounds, dtype=dtype, backend="numpy")
    assert ours.dtype is theirs.dtype
    assert ours.tolist() == theirs.tolist()


def test_arange_is_one_launch_without_upload_if_exact():
    with mt.use_backend(CudaOps(machine := Recorder())):
        assert mt.arange(1000, dtype="float32", requires_grad=True).requires_grad
        assert [len(machine.record.launches), machine.record.uploads] == [1, 0]
        mt.arange(0.0, 1.0, 0.1)
        assert machine.record.uploads == 1


def test_arange_of_integers_beyond_float64_is_exact():
    bounds = 2**60, 2**60 + 3
    assert mt.arange(*bounds, backend=CudaOps(Simulator())).tolist() == list(range(*bounds))
    assert "arange" in FUSED
