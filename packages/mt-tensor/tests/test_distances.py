"""Distances of equal rows, and statistics of nan and empty tensors, compared with torch."""

import math
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt

NAN = math.nan


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, math.inf])
def test_cdist_of_equal_rows_has_finite_gradient_as_in_torch(p: float) -> None:
    torch = pytest.importorskip("torch")
    rows = [[1.0, 2.0], [1.0, 2.5], [0.0, 1.75]]
    results = []
    for m in (mt, torch):
        x = m.tensor(rows, dtype=m.float64, requires_grad=True)
        y = m.tensor(rows[:2], dtype=m.float64, requires_grad=True)
        out = m.cdist(x, y, p)
        if p:  # p=0 counts the elements that differ: no gradient
            (out * out.detach().cos()).sum().backward()
        results.append([a.numpy() for a in (out.detach(), x.grad, y.grad) if a is not None])
    for ours, theirs in zip(*results, strict=False):
        assert np.isfinite(ours).all()
        np.testing.assert_allclose(ours, theirs, 1e-12, 1e-12)


def test_first_and_second_gradients_of_distances_of_equal_rows_are_zero() -> None:
    x = mt.zeros(2, 3, dtype="float64", requires_grad=True)
    (first,) = mt.autograd.grad(mt.cdist(x, x).sum() + mt.pdist(x).sum(), x, create_graph=True)
    (first * first).sum().backward()
    assert first.tolist() == x.grad.tolist() == [[0.0] * 3] * 2


@pytest.mark.filterwarnings("ignore:cov")
@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.histc(x[:4], 3, 0, 2),
        lambda m, x: m.histc(x[1:2], 3),
        lambda m, x: m.histc(x[:0], 3),
        lambda m, x: m.nanmedian(x),
        lambda m, x: m.nanmedian(x[:1]),
        lambda m, x: m.nanmedian(x[:0]),
        lambda m, x: m.nanmedian(x, 0).values,
        lambda m, x: m.nanmedian(x[:1], 0).indices,
        lambda m, x: m.isin(x, x),
        lambda m, x: m.searchsorted(x[1:4], x),
        lambda m, x: m.bucketize(x, x[1:4], right=True),
        lambda m, x: m.bucketize(1.5, x[1:4]),
        lambda m, x: m.searchsorted(x[1:4], 2, out_int32=True),
        lambda m, x: m.mode(m.tensor(3)).indices,
        lambda m, x: m.trapezoid(x[:0]),
        lambda m, x: m.trapezoid(m.zeros(0, 2), m.zeros(0, 2, 2), dim=0),
        lambda m, x: m.trapezoid(m.zeros(3, 0, 2), m.zeros(0), dim=1),
        lambda m, x: m.trapezoid(m.ones(2, 1), m.arange(12.0).reshape(2, 3, 2) ** 2, dim=0),
        lambda m, x: m.cumulative_trapezoid(m.ones(3, 1), x[1:4].reshape(3, 1, 1), dim=0),
        lambda m, x: m.roll(x[1:4], 1, ()),
        lambda m, x: m.histc(m.tensor(-1.5e30), 5),
        lambda m, x: m.histc(m.tensor([1e30, 1e30, 0.0]), 4, 1e30, 1e30),
        lambda m, x: m.cumulative_trapezoid(x[:1]),
        lambda m, x: m.cov(x[1]),
        lambda m, x: m.corrcoef(m.stack([x[1:4], x[1:4] * 0])),
        lambda m, x: m.combinations(x, 0),
        lambda m, x: m.nanmedian(m.tensor([3, 1, 2])),
        lambda m, x: m.block_diag(m.tensor(1.0, dtype=m.float64), x[1:3]),
        lambda m, x: m.block_diag(m.tensor([True]), m.tensor([[2, 3]])),
        lambda m, x: m.cov(x[1:4], aweights=m.tensor([0.5, 1.0, 2.0], dtype=m.float64)),
    ],
)
def test_statistics_of_nan_and_empty_input_match_torch(call: Any) -> None:
    torch = pytest.importorskip("torch")
    values = [NAN, 0.5, 1.5, 2.0, math.inf, -math.inf]
    theirs = call(torch, torch.tensor(values))
    ours = call(mt, mt.tensor(values))
    assert f"torch.{ours.dtype.name}" == str(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.dist(x, x, p="fro"),
        lambda m, x: m.linalg.vecdot(x, x, dim=(0, 1)),
        lambda m, x: m.cosine_similarity(x, x, eps=-1.0),
        lambda m, x: m.cosine_similarity(x, x, eps=NAN),
        lambda m, x: x.view(m.int32, size=(4,)),
        lambda m, x: x.view(2, 2, size=(4,)),
    ],
)
def test_invalid_arguments_raise_torchs_error(call: Any) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises((TypeError, RuntimeError)) as theirs:
        call(torch, torch.zeros(2, 2))
    with pytest.raises(theirs.type):
        call(mt, mt.zeros(2, 2))


def test_nanmedian_gradient_of_nan_is_zero() -> None:
    x = mt.tensor([NAN, 2.0, NAN, 2.0, 5.0], requires_grad=True)
    x.nanmedian().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0.0, 0.5, 0.0, 0.5, 0.0]
