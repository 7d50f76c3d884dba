"""Fused softmax, argmax and argmin on the simulator, compared with the numpy backend."""

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps, Simulator
from mt_cuda.recording import Recorder
from mt_tensor.backends import use_backend


@pytest.fixture(params=["forward", "reversed"])
def ops(request):
    return CudaOps(Simulator(request.param))


def assert_close_to_numpy(ops, function, *arrays):
    """Compare a function and its gradients with the numpy backend in float64."""
    results = []
    for backend, dtype in ((ops, None), ("numpy", "f8")):
        with use_backend(backend):
            tensors = [mt.tensor(a.astype(dtype or a.dtype), requires_grad=True) for a in arrays]
            out = function(*tensors)
            weights = np.random.default_rng(1).random(out.shape).astype(dtype or arrays[0].dtype)
            (out * mt.tensor(weights)).sum().backward()
            results.append([out.detach().numpy(), *(x.grad.numpy() for x in tensors)])
    tolerance = 2e-3 if arrays[0].dtype == np.float16 else 2e-5
    for ours, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(ours, wanted, tolerance, tolerance)


def count_launches(action):
    """Return the number of launches of the second call."""
    machine = Recorder()
    with use_backend(CudaOps(machine)):
        action()
        before = len(machine.record.launches)
        action()
    return len(machine.record.launches) - before


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [((3, 5), -1), ((4, 100), 1), ((2, 7, 3), 1), ((70, 3), 0), ((1, 300), -1), ((5,), 0)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_softmax_and_its_gradient_match_numpy(ops, name, shape, dim, dtype):
    x = (10 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    assert_close_to_numpy(ops, lambda x: getattr(mt, name)(x, dim), x)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_infinities_and_nan_matches_numpy(ops, name):
    x = np.array([[np.inf, 0, 1], [-np.inf, 0, 1], [np.nan, 0, 1], [-np.inf] * 3], "f4")
    results = [getattr(mt, name)(mt.tensor(x, backend=b), 1).numpy() for b in (ops, "numpy")]
    np.testing.assert_allclose(*results, rtol=1e-6)


def test_softmax_forward_and_backward_are_one_launch_each():
    def step():
        x = mt.ones(40, 50, requires_grad=True)
        y = mt.softmax(x, 1)
        y.backward(y.detach())

    assert count_launches(step) == 3  # and one for mt.ones


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "uint64"])
@pytest.mark.parametrize(("shape", "dim"), [((7, 40), 1), ((5, 3, 4), 1), ((1, 1), 0), ((9,), 0)])
def test_argmax_and_argmin_match_numpy(ops, name, dtype, shape, dim):
    x = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)  # with ties
    found = getattr(mt.tensor(x, backend=ops), name)(dim)
    np.testing.assert_array_equal(found.numpy(), getattr(np, name)(x, dim))


def test_argmax_and_argmin_return_first_nan_and_compare_infinity(ops):
    x = np.array([[0, np.nan, 5, np.nan], [-np.inf] * 4, [1, np.inf, 2, 0]], "f4")
    x = mt.tensor(x, backend=ops)
    assert (x.argmax(1).tolist(), x.argmin(1).tolist()) == ([1, 0, 1], [1, 0, 3])


def test_argmax_is_one_launch():
    x = mt.ones(40, 50, backend=CudaOps(machine := Recorder()))
    before = len(machine.record.launches)
    x.argmax(1)
    assert len(machine.record.launches) == before + 1
