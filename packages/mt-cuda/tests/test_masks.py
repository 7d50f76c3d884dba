"""nonzero() and bool masks on the simulator, compared with NumPy."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.recording import Record, Recorder


@pytest.fixture(params=["forward", "reversed"])
def ops(request):
    return CudaOps(Simulator(request.param))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", "bool"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 40), (0,), (2, 0, 3), (9, 1, 2)])
def test_nonzero_matches_numpy(ops, dtype, shape):
    for values in (np.random.default_rng(0).integers(0, 3, shape), np.zeros(shape), np.ones(shape)):
        x = values.astype(dtype)
        found = mt.tensor(x, backend=ops).nonzero()
        assert found.dtype is mt.int64
        np.testing.assert_array_equal(found.numpy(), np.argwhere(x))


def test_nonzero_includes_fractions_nan_infinity_and_subnormals(ops):
    x = mt.tensor([0.5, 0.0, -0.0, np.nan, np.inf, 1e-40], backend=ops)
    assert x.nonzero(as_tuple=True)[0].tolist() == [0, 3, 4, 5]


@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x.T, lambda x: x.flip(0), lambda x: x[1:, ::2]]
)
def test_bool_mask_reads_and_writes_like_numpy_backend(ops, view):
    x = np.random.default_rng(0).integers(0, 9, (5, 6)).astype("f4")
    results = []
    for backend in (ops, "numpy"):
        x_view = view(mt.tensor(x, backend=backend))
        selected = x_view[x_view > 4]
        x_view[x_view > 4] = mt.arange(selected.numel(), dtype="float32", backend=backend)
        rows = x_view[
            mt.tensor([True, False, True, True, False, True][: len(x_view)], backend=backend)
        ]
        results.append([each.numpy() for each in (selected, x_view, rows)])
    for ours, wanted in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, wanted)


def test_bool_mask_downloads_one_number():
    x = mt.zeros(300, 50, backend=CudaOps(machine := Recorder()))
    machine.record = Record()
    x[x > 0]
    assert (machine.record.downloads, machine.record.uploads) == (1, 0)
