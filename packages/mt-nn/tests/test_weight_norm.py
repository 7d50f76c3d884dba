"""`nn.utils.weight_norm`: values, gradients, removal and errors."""

import copy
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.utils import remove_weight_norm, weight_norm


@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_values_gradients_and_shapes_match_torch(dim: int | None) -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.nn.Conv1d(2, 3, 2)
    ours = nn.Conv1d(2, 3, 2)
    ours.load_state_dict({n: mt.tensor(x.numpy()) for n, x in theirs.state_dict().items()})
    with pytest.warns(FutureWarning):
        torch.nn.utils.weight_norm(theirs, dim=dim)
    weight_norm(ours, dim=dim)
    assert {n: x.shape for n, x in ours.state_dict().items()} == {
        n: tuple(x.shape) for n, x in theirs.state_dict().items()
    }
    x = np.random.default_rng(0).normal(size=(4, 2, 5)).astype(np.float32)
    found, expected = ours(mt.tensor(x)), theirs(torch.tensor(x))
    np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-4, atol=1e-6)
    found.square().sum().backward()
    expected.square().sum().backward()
    for name in ("weight_g", "weight_v", "bias"):
        our_grad, their_grad = getattr(ours, name).grad, getattr(theirs, name).grad
        np.testing.assert_allclose(our_grad, their_grad, rtol=1e-4, atol=1e-5)


def test_weight_norm_keeps_the_weight_and_can_be_removed() -> None:
    layer = nn.Linear(3, 2)
    before = layer.weight.detach().numpy().copy()
    assert weight_norm(layer) is layer
    assert sorted(dict(layer.named_parameters())) == ["bias", "weight_g", "weight_v"]
    np.testing.assert_allclose(layer.weight.detach(), before, rtol=1e-6)
    copied = copy.deepcopy(layer)
    with mt.no_grad():
        layer.weight_g.mul_(2.0)
    np.testing.assert_allclose(layer.weight.detach(), 2 * before, rtol=1e-6)
    np.testing.assert_allclose(copied.weight.detach(), before, rtol=1e-6)
    remove_weight_norm(layer)
    assert sorted(dict(layer.named_parameters())) == ["bias", "weight"]
    np.testing.assert_allclose(layer.weight.detach(), 2 * before, rtol=1e-6)
    assert repr(layer) == repr(nn.Linear(3, 2))


def test_two_parameters_of_a_module_are_normalized_independently() -> None:
    layer: Any = nn.Bilinear(2, 2, 2)
    weight_norm(weight_norm(layer), "bias")
    assert sorted(dict(layer.named_parameters())) == ["bias_g", "bias_v", "weight_g", "weight_v"]
    remove_weight_norm(layer)
    assert sorted(dict(layer.named_parameters())) == ["bias_g", "bias_v", "weight"]


def test_unknown_or_unnormalized_name_raises_setting_error() -> None:
    with pytest.raises(nn.SettingError, match="Linear has no parameter 'scale'"):
        weight_norm(nn.Linear(2, 2), "scale")
    with pytest.raises(nn.SettingError, match="Linear has no weight_norm of 'weight'"):
        remove_weight_norm(nn.Linear(2, 2))
