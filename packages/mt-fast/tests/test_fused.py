"""Fused softmax, cross entropy and pooling: cases that the conformance tests do not cover."""

import itertools

import numba
import numpy as np
import pytest

import mt_tensor as mt
from mt_fast.fused import halving, pooling
from mt_fast.fused.losses import CROSS_ENTROPY
from mt_fast.fused.pooling import MAX_POOL, MEAN_POOL


@pytest.fixture(scope="module", autouse=True)
def fast():
    with mt.use_backend("fast"):
        yield mt.get_backend("fast")


@pytest.mark.parametrize(
    ("name", "dim"), list(itertools.product(("softmax", "log_softmax"), (0, 1, -1)))
)
def test_softmax_derivatives_of_views_match_simple(fast, name, dim):
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
        grad, x.grad = x.grad, None
        grad.square().sum().backward()
        results.append((np.asarray(y.detach()), first, np.asarray(x.grad)))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_number_of_threads_does_not_change_bits_of_softmax(fast, name, monkeypatch):
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


def test_softmax_handles_arguments_that_are_not_fused():
    half = mt.tensor([[1.0, 2.0]], dtype="float16").softmax(1)
    assert half.dtype is mt.float16
    assert half.sum().item() == pytest.approx(1.0, abs=1e-3)
    assert mt.zeros(0, 3).log_softmax(1).shape == (0, 3)
    with pytest.raises(mt.errors.DTypeError, match="softmax"):
        mt.tensor([1, 2]).softmax(0)
    with pytest.raises(mt.errors.IndexingError, match="out of range"):
        mt.zeros(2, 3).softmax(2)


@pytest.mark.parametrize("ignored", [-100, 2])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_gradient_can_be_computed_repeatedly(fast, reduction, ignored):
    array = np.random.default_rng(0).standard_normal((6, 5))
    classes = np.array([0, 4, 2, 2, 1, 3])
    arguments = mt.tensor(array), mt.tensor(classes), ignored, reduction
    needs, selected = (True, False, False, False), classes != ignored
    loss, saved = CROSS_ENTROPY.value(needs, *arguments)
    expected = np.exp(array) / np.exp(array).sum(1, keepdims=True) - np.eye(5)[classes]
    expected *= selected[:, None] / (selected.sum() if reduction == "mean" else 1)
    for scale in (1.0, 3.0, 1.0, -0.5):  # only the first call can use the saved gradient
        upstream = mt.ones_like(loss) * scale
        grad, *others = CROSS_ENTROPY.gradient(upstream, saved, needs, *arguments)
        np.testing.assert_allclose(grad, scale * expected, rtol=1e-12, atol=1e-15)
        assert others == [None, None, None]
        grad.fill_(7.0)  # the gradient belongs to the caller


@pytest.mark.parametrize("scale", [2.0, -1.0])
def test_cross_entropy_gradient_is_scaled_by_upstream(fast, scale):
    array = np.random.default_rng(0).standard_normal((6, 5))
    arguments = mt.tensor(array), mt.tensor(np.arange(6) % 5), -100, "mean"
    needs, grads = (True, False, False, False), []
    for upstream in (1.0, scale):
        _, saved = CROSS_ENTROPY.value(needs, *arguments)
        given = mt.tensor(upstream, dtype="float64")
        grads.append(CROSS_ENTROPY.gradient(given, saved, needs, *arguments)[0])
    np.testing.assert_allclose(grads[1], np.asarray(grads[0]) * scale, rtol=1e-14)


@pytest.mark.parametrize("shape", [(2, 3, 6, 8), (1, 2, 7, 5), (1, 1, 3, 40), (1, 1, 2, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pooling_by_two_matches_general_kernel(fast, shape, dtype, monkeypatch):
    array = np.random.default_rng(0).integers(-2, 3, shape).astype(dtype)  # many ties
    array[array == 2] = np.nan
    array.flat[:4] = np.inf, -np.inf, np.nan, -np.inf
    windows = (2, 2), (2, 2), (0, 0)
    for pool, values in (
        (MAX_POOL, array),
        (MEAN_POOL, np.nan_to_num(array, posinf=1.0, neginf=0.0)),
    ):
        results = []
        for halves in (halving.halves, lambda *_: False):
            monkeypatch.setattr(halving, "halves", halves)
            x = mt.tensor(values)
            value, _ = pool.value((False,), x, *windows)
            out, saved = pool.value((True,), x, *windows)
            upstream = mt.arange(out.numel(), dtype=dtype).reshape(out.shape) + 1.0
            grad = pool.gradient(upstream, saved, (True,), x, *windows)[0]
            results.append([np.asarray(result) for result in (value, out, grad)])
        for ours, theirs in zip(*results, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("size", [(2, 3), (3, 1), (4, 4), (1, 7), (5, 20), (6, 41)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_mean_of_whole_image_matches_general_kernel(fast, size, dtype, monkeypatch):
    values = np.random.default_rng(0).standard_normal((2, 3, *size)).astype(dtype)
    values[0].flat[:3] = np.inf, -np.inf, np.nan
    results = []
    for applies in (pooling._is_global, lambda *_: False):
        monkeypatch.setattr(pooling, "_is_global", applies)
        x = mt.tensor(values)
        out, saved = MEAN_POOL.value((True,), x, size, size, (0, 0))
        upstream = mt.arange(out.numel(), dtype=dtype).reshape(out.shape) + 1.0
        grad = MEAN_POOL.gradient(upstream, saved, (True,), x, size, size, (0, 0))[0]
        results.append([np.asarray(result) for result in (out, grad)])
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, tolerance, tolerance)


def test_max_pool_rejects_planes_too_large_for_int32():
    for shape, fits in (
        ((1, 1, 1, 9), True),
        ((1, 1, 2**16, 2**15), False),
        ((2, 3, 2**15, 2**15), True),
    ):
        x = mt.zeros(1, 1, 1, 1).expand(shape)
        assert MAX_POOL.fits(x, (2, 2), (2, 2), (0, 0)) == fits
