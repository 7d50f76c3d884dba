"""Activations: inplace=True, random slopes and classes, softmax without dim."""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.functional as F
import mt_tensor as mt

LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("CELU", {"alpha": 0.5}),
    ("ELU", {"alpha": 0.5}),
    ("Hardsigmoid", {}),
    ("Hardswish", {}),
    ("Hardtanh", {"max_val": 0.5}),
    ("LeakyReLU", {"negative_slope": 0.2}),
    ("Mish", {}),
    ("ReLU", {}),
    ("ReLU6", {}),
    ("RReLU", {"lower": 0.25, "upper": 0.25}),
    ("SELU", {}),
    ("SiLU", {}),
    ("Threshold", {"threshold": 0.1, "value": -3.0}),
]


@pytest.mark.parametrize(("name", "settings"), LAYERS)
def test_inplace_activation_matches_out_of_place_and_rejects_leaf(
    name: str, settings: dict[str, Any]
) -> None:
    values = 2 * np.random.default_rng(0).standard_normal((3, 4))
    results = []
    for inplace in (False, True):
        leaf = mt.tensor(values, requires_grad=True)
        x = leaf * 1.0
        out = getattr(nn, name)(**settings, inplace=inplace)(x)
        assert (out is x) is inplace
        out.backward(mt.tensor(np.cos(values)))
        results.append((out.tolist(), leaf.grad.tolist()))
    assert results[0] == results[1]
    with pytest.raises(mt.errors.InPlaceError):
        getattr(nn, name)(**settings, inplace=True)(mt.ones(2, requires_grad=True))


def test_rrelu_draws_uniform_slopes_in_training() -> None:
    mt.manual_seed(0)
    x = mt.full((4000,), -2.0, requires_grad=True)
    out = nn.RReLU(0.2, 0.6)(x)
    slopes = out.detach().numpy() / -2
    assert 0.2 <= slopes.min() < 0.21
    assert 0.59 < slopes.max() <= 0.6
    assert slopes.mean() == pytest.approx(0.4, abs=0.01)
    out.sum().backward()
    np.testing.assert_allclose(x.grad, slopes, rtol=1e-6)
    mt.manual_seed(0)
    assert nn.RReLU(0.2, 0.6)(x).tolist() == out.tolist()
    assert F.rrelu(mt.ones(3), training=True).tolist() == [1.0] * 3


def test_gumbel_softmax_draws_classes_with_softmax_probabilities() -> None:
    mt.manual_seed(0)
    probabilities = np.array([0.1, 0.6, 0.3])
    logits = mt.tensor(np.log(probabilities)).expand(4000, 3).contiguous().requires_grad_()
    choice = F.gumbel_softmax(logits, tau=0.5, hard=True)
    assert set(np.unique(choice.detach())) == {0.0, 1.0}
    np.testing.assert_allclose(choice.sum(1).detach(), 1.0)
    np.testing.assert_allclose(choice.detach().numpy().mean(0), probabilities, atol=0.03)
    mt.manual_seed(0)
    logits_copy = logits.detach().clone().requires_grad_()
    soft = F.gumbel_softmax(logits_copy, tau=0.5)
    assert (soft.argmax(1) == choice.argmax(1)).all()
    for out, leaf in ((choice, logits), (soft, logits_copy)):
        (out * mt.tensor([1.0, 2.0, 4.0])).sum().backward()
        assert leaf.grad is not None
    np.testing.assert_allclose(logits.grad, logits_copy.grad, atol=1e-12)
    assert F.gumbel_softmax(mt.zeros(3, 2), dim=0).sum(0).tolist() == pytest.approx([1, 1])
    with pytest.raises(nn.SettingError, match="tau must be positive; got 0"):
        F.gumbel_softmax(logits, tau=0)


@pytest.mark.parametrize(("shape", "dim"), [((3,), 0), ((2, 3), 1), ((2, 3, 4), 0)])
def test_softmax_without_dim_warns_and_uses_default_dim(shape: tuple[int, ...], dim: int) -> None:
    x = mt.tensor(np.random.default_rng(0).standard_normal(shape))
    for name in ("Softmax", "Softmin", "LogSoftmax"):
        with pytest.warns(UserWarning, match=f"{name} with dim=None uses dimension {dim}"):
            found = getattr(nn, name)()(x)
        assert found.tolist() == getattr(nn, name)(dim)(x).tolist()
