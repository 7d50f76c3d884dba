"""Fused operations: what the conformance kit does not ask of them."""

import itertools

import numba
import numpy as np
import pytest

import mt_tensor as mt


@pytest.fixture(scope="module", autouse=True)
def fast():
    with mt.use_backend("fast"):
        yield mt.get_backend("fast")


@pytest.mark.parametrize(
    ("name", "dim"), list(itertools.product(("softmax", "log_softmax"), (0, 1, -1)))
)
def test_second_derivatives_of_views(fast, name, dim):
    array = np.random.default_rng(0).standard_normal((4, 3, 6))
    operation = getattr(mt, name)
    results = []
    for backend in ("fast", "simple"):
        x = mt.tensor(array, requires_grad=True, backend=backend)
        y = operation(x.permute(2, 0, 1), dim)
        (y * y.detach().sin()).sum().backward()
        first = np.asarray(x.grad)
        x.grad = None
        operation(x.permute(2, 0, 1), dim).square().sum().backward(create_graph=True)
        slope, x.grad = x.grad, None
        slope.square().sum().backward()
        results.append((np.asarray(y.detach()), first, np.asarray(x.grad)))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_all_threads_yield_the_same_bits(fast, name, monkeypatch):
    array, upstream = np.random.default_rng(0).standard_normal((2, 7, 5)).astype("f4")
    monkeypatch.setattr(numba, "get_num_threads", lambda: 2)
    results = []
    for parallel_from in (10**9, 1):
        monkeypatch.setattr(fast, "parallel_from", parallel_from)
        x = mt.tensor(array, requires_grad=True)
        y = getattr(mt, name)(x, 1)
        y.backward(mt.tensor(upstream))
        results.append((y.tolist(), x.grad.tolist()))
    assert results[0] == results[1]


def test_the_composition_does_the_rest():
    half = mt.tensor([[1.0, 2.0]], dtype="float16").softmax(1)
    assert half.dtype is mt.float16
    assert half.sum().item() == pytest.approx(1.0, abs=1e-3)
    assert mt.zeros(0, 3).log_softmax(1).shape == (0, 3)
    with pytest.raises(mt.errors.DTypeError, match="softmax"):
        mt.tensor([1, 2]).softmax(0)
    with pytest.raises(mt.errors.IndexingError, match="out of range"):
        mt.zeros(2, 3).softmax(2)
