"""`nn.utils.spectral_norm`: values, gradients, states, copies, compiled steps and errors."""

import copy
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.utils import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm


@pytest.mark.parametrize(
    ("name", "settings", "shape", "options"),
    [
        ("Linear", {"in_features": 3, "out_features": 4}, (2, 3), {"n_power_iterations": 3}),
        ("Linear", {"in_features": 3, "out_features": 4}, (2, 3), {"dim": 1}),
        ("Linear", {"in_features": 3, "out_features": 4}, (2, 3), {"name": "bias", "eps": 1e-3}),
        ("Conv2d", {"in_channels": 3, "out_channels": 4, "kernel_size": 2}, (1, 3, 4, 4), {}),
        ("ConvTranspose1d", {"in_channels": 3, "out_channels": 4, "kernel_size": 2}, (1, 3, 4), {}),
    ],
)
def test_spectral_norm_values_gradients_and_state_match_torch(
    name: str, settings: dict[str, Any], shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.nn.utils.spectral_norm(getattr(torch.nn, name)(**settings).double(), **options)
    ours = spectral_norm(getattr(nn, name)(**settings).double(), **options)
    state = {key: mt.tensor(value.numpy()) for key, value in theirs.state_dict().items()}
    assert list(ours.state_dict()) == list(state)
    ours.load_state_dict(state)
    x = np.random.default_rng(0).normal(size=shape)
    for training in (True, True, False):
        found = ours.train(training)(mt.tensor(x))
        expected = theirs.train(training)(torch.tensor(x))
        np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-9)
    normalized = options.get("name", "weight")
    np.testing.assert_allclose(
        getattr(ours, normalized).detach(), getattr(theirs, normalized).detach(), rtol=1e-9
    )
    for key, value in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[key], value, rtol=1e-9)
    found.square().sum().backward()
    expected.square().sum().backward()
    for (key, our_parameter), (their_key, their_parameter) in zip(
        ours.named_parameters(), theirs.named_parameters(), strict=True
    ):
        assert key == their_key
        np.testing.assert_allclose(our_parameter.grad, their_parameter.grad, 1e-8, 1e-10)
    remove_spectral_norm(ours, normalized)
    torch.nn.utils.remove_spectral_norm(theirs, normalized)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    np.testing.assert_allclose(
        ours(mt.tensor(x)).detach(), theirs(torch.tensor(x)).detach(), rtol=1e-9
    )


def test_init_of_weight_changes_weight_orig() -> None:
    layer = spectral_norm(nn.Linear(3, 2))
    nn.init.constant_(layer.weight, 2.0)
    assert layer.weight_orig.tolist() == [[2.0] * 3] * 2
    layer(mt.ones(1, 3))
    assert layer.weight.requires_grad
    np.testing.assert_allclose(layer.weight.detach(), np.full((2, 3), 6**-0.5), rtol=1e-5)


def test_power_iteration_runs_only_in_training_forward() -> None:
    layer = spectral_norm(nn.Linear(3, 2))
    layer(mt.ones(1, 3))
    before = layer.weight_u.tolist()
    assert layer.weight.tolist() == layer.weight.tolist()
    layer.eval()(mt.ones(1, 3))
    assert layer.weight_u.tolist() == before
    layer.train()(mt.ones(1, 3))
    assert layer.weight_u.tolist() != before


def test_removing_spectral_norm_does_not_affect_a_deepcopy() -> None:
    layer = spectral_norm(nn.Linear(3, 2))
    layer(mt.ones(1, 3))
    copied = copy.deepcopy(layer)
    remove_spectral_norm(layer)
    assert type(layer) is nn.Linear
    assert repr(copied) == repr(layer)
    np.testing.assert_array_equal(
        copied.eval()(mt.ones(1, 3)).detach(), layer(mt.ones(1, 3)).detach()
    )
    assert list(remove_spectral_norm(copied).state_dict()) == ["bias", "weight"]


def test_compiled_training_steps_match_eager_ones() -> None:
    def step(model: nn.Module, optimizer: Any, x: mt.Tensor) -> mt.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    mt.manual_seed(0)
    eager = nn.Sequential(spectral_norm(nn.Linear(3, 4)), nn.Tanh(), spectral_norm(nn.Linear(4, 1)))
    copied = copy.deepcopy(eager)
    compiled, x = mt.compile(step), mt.randn(5, 3)
    models = (eager, copied)
    optimizers = [nn.optim.SGD(model.parameters(), lr=0.1) for model in models]
    for _ in range(4):
        expected = step(eager, optimizers[0], x)
        np.testing.assert_allclose(compiled(copied, optimizers[1], x).item(), expected.item())


def test_spectral_norm_and_weight_norm_combine_and_reject_wrong_names() -> None:
    layer: Any = weight_norm(spectral_norm(nn.Bilinear(2, 2, 2)), "bias")
    names = ["bias_g", "bias_v", "weight_orig"]
    assert sorted(dict(layer.named_parameters())) == names
    with pytest.raises(nn.SettingError, match="Bilinear already has a spectral_norm of 'weight'"):
        spectral_norm(layer)
    with pytest.raises(nn.SettingError, match="Bilinear has no weight_norm of 'weight'"):
        remove_weight_norm(layer)
    with pytest.raises(nn.SettingError, match="Bilinear has no spectral_norm of 'bias'"):
        remove_spectral_norm(layer, "bias")
    remove_weight_norm(remove_spectral_norm(layer), "bias")
    assert type(layer) is nn.Bilinear
    with pytest.raises(nn.SettingError, match="Linear has no parameter 'scale'"):
        spectral_norm(nn.Linear(2, 2), "scale")
    with pytest.raises(nn.SettingError, match="n_power_iterations"):
        spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
