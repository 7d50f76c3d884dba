"""searchsorted() and bucketize() on the simulator, compared with NumPy."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.cubins import nvrtc
from mt_cuda.recording import Record, Recorder
from mt_cuda.sorting.searching import search
from mt_tensor.extending import DTYPES

NUMBERS = [np.nan, -np.inf, np.inf, 0.0, -0.0, 1.0, -1.0, 3e38, 1e-40, 2.0]

SHAPES = [((9,), (2, 7)), ((1,), (5,)), ((0,), (3,)), ((6,), ())]
SHAPES += [((3, 8), (3, 5)), ((2, 2, 5), (2, 2, 1))]
"""Shapes with one sorted row for all values, and with a sorted row for each row of values."""


@pytest.fixture(params=["forward", "reversed"])
def ops(request):
    return CudaOps(Simulator(request.param))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint64", "int64"])
@pytest.mark.parametrize(("rows", "values"), SHAPES)
def test_searchsorted_matches_numpy_backend(ops, rows, values, dtype, right):
    rng = np.random.default_rng(0)
    choices = np.arange(7) if dtype[0] in "iu" else np.array(NUMBERS)
    with np.errstate(over="ignore"):
        s = np.sort(rng.choice(choices, rows)).astype(dtype)
        x = rng.choice(choices, values).astype(dtype)
    found = mt.searchsorted(mt.tensor(s, backend=ops), mt.tensor(x, backend=ops), right=right)
    wanted = mt.searchsorted(mt.tensor(s), mt.tensor(x), right=right)
    assert (found.dtype, found.shape) == (mt.int64, values)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_searchsorted_accepts_views(ops):
    x = np.random.default_rng(0).integers(0, 9, (4, 6)).astype("f4")
    s = np.sort(np.arange(12.0, dtype="f4").reshape(6, 2), 1)
    found, wanted = (
        mt.searchsorted(mt.tensor(s, backend=b)[::2].flip(0), mt.tensor(x, backend=b).T[:3])
        for b in (ops, "numpy")
    )
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_bucketize_promotes_mixed_dtypes(ops):
    s, x = np.array([1, 2, 3]), np.array([0.5, 2.0, 2.5], "f4")
    found = mt.bucketize(mt.tensor(x, backend=ops), mt.tensor(s, backend=ops))
    assert found.tolist() == [0, 1, 2]
    assert mt.bucketize(2.5, mt.tensor(s, backend=ops), out_int32=True).item() == 2


def test_bucketize_does_not_synchronize():
    with mt.use_backend(CudaOps(machine := Recorder())):
        s, x = mt.ones(9), mt.ones(3, 4)
        machine.record = Record()
        mt.bucketize(x, s)
        assert [len(machine.record.launches), machine.record.synchronisations] == [1, 0]


@pytest.mark.parametrize("right", [False, True])
def test_search_kernel_compiles_for_every_dtype(right):
    for dtype in DTYPES.values():
        assert dtype is mt.bool or nvrtc.cubin(search(dtype, right))
