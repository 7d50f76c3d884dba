"""Scans such as cumsum() on the simulator, compared with the numpy backend."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.recording import Record, Recorder

DTYPES = ["float32", "float64", "float16", "int8", "uint8", "int64", "uint64", "bool"]
SHAPES = [
    ((5, 3), 0),
    ((5, 3), 1),
    ((2, 41, 3), 1),
    ((2, 50), 1),
    ((301,), 0),
    ((1, 1), 0),
    ((), 0),
]
"""Shapes that use a thread per row, a block per row, and several blocks for one row."""


@pytest.fixture(params=["forward", "reversed"])
def ops(request):
    return CudaOps(Simulator(request.param))


def small_integers(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(0, 5, shape).astype(dtype)


def assert_matches_numpy(ops, x, call, tolerance=0.0):
    """Compare the results of a call with those of the numpy backend."""
    found, wanted = (call(mt.tensor(x, backend=backend)) for backend in (ops, "numpy"))
    for ours, theirs in zip(
        *(each if isinstance(each, tuple) else (each,) for each in (found, wanted)), strict=True
    ):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_cumsum_cummax_and_cummin_match_numpy(ops, dtype, shape, dim):
    for name in ("cumsum", "cummax", "cummin"):
        assert_matches_numpy(
            ops, small_integers(shape, dtype), lambda x, name=name: getattr(x, name)(dim)
        )


@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("name", ["cumprod", "logcumsumexp"])
def test_cumprod_and_logcumsumexp_match_numpy_up_to_one_rounding(ops, name, shape, dim):
    x = np.random.default_rng(0).standard_normal(shape).astype("f4")
    assert_matches_numpy(ops, x, lambda x: getattr(x, name)(dim), 2e-7)


@pytest.mark.parametrize("name", ["cumsum", "logcumsumexp", "cummax", "cummin"])
def test_scan_of_nan_and_infinity_matches_numpy(ops, name):
    x = np.tile(np.array([[1, np.nan, 0, np.inf], [-np.inf, -np.inf, 1, 2]], "f4"), (1, 10))
    for values in (x, x[1:], x[:, ::-1], np.full((1, 40), np.inf, "f4"), np.full(33, -0.0, "f4")):
        assert_matches_numpy(ops, values, lambda x: getattr(x, name)(-1))


@pytest.mark.parametrize("length", [4, 70, 200])
def test_gradient_of_logcumsumexp_matches_numpy(ops, length):
    def gradient(x):
        x = x.T.requires_grad_()
        (x.logcumsumexp(0) * x.detach().cos()).sum().backward()
        return x.grad

    x = np.random.default_rng(0).standard_normal((1, length)).astype("f4")
    assert_matches_numpy(ops, x, gradient, 2e-5)


@pytest.mark.parametrize(
    ("shape", "dim", "count"), [((4000, 10), 1, 1), ((50, 3000), 1, 1), ((2 * 10**7,), 0, 3)]
)
def test_cumsum_has_few_launches_and_no_copies(shape, dim, count):
    x = mt.zeros(shape, backend=CudaOps(machine := Recorder()))
    machine.record = Record()
    x.cumsum(dim)
    record = machine.record
    assert (len(record.launches), record.downloads, record.uploads) == (count, 0, 0)
    if count > 1:
        assert record.least_blocks() >= 132
