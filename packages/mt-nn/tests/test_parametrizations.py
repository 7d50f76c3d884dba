"""Parametrizations of layers, and layers that are fused with batch normalization."""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.conformance.drawing import draw
from mt_nn.utils import fuse_conv_bn_eval, fuse_linear_bn_eval, parametrizations, parametrize
from mt_nn.utils.rnn import pack_sequence, unpack_sequence


class Doubled(nn.Module):
    """Double the trained value."""

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        return 2 * x

    def right_inverse(self, x: mt.Tensor) -> mt.Tensor:
        return x / 2


class Shifted(nn.Module):
    """Add 1 to the trained value."""

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        return x + 1

    def right_inverse(self, x: mt.Tensor) -> mt.Tensor:
        return x - 1


def test_parametrizations_can_be_chained() -> None:
    layer = nn.Linear(2, 1, bias=False)
    layer.weight.update([[3.0, 5.0]])
    assert parametrize.register_parametrization(layer, "weight", Doubled()) is layer
    parametrize.register_parametrization(layer, "weight", Shifted())
    assert type(layer).__name__ == "ParametrizedLinear"
    assert isinstance(layer, nn.Linear)
    assert layer.weight.tolist() == [[3.0, 5.0]]
    assert list(layer.state_dict()) == ["parametrizations.weight.original"]
    assert layer.parametrizations.weight.original.tolist() == [[1.0, 2.0]]
    layer(mt.ones(1, 2)).sum().backward()
    assert layer.parametrizations.weight.original.grad.tolist() == [[2.0, 2.0]]
    layer.weight = mt.tensor([[1.0, 7.0]])
    assert layer.weight.tolist() == [[1.0, 7.0]]
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert list(layer.state_dict()) == ["weight"]
    assert layer.weight.tolist() == [[1.0, 7.0]]


def test_remove_parametrizations_can_restore_the_original() -> None:
    layer = parametrize.register_parametrization(nn.Linear(2, 1), "weight", Doubled())
    original = layer.parametrizations.weight.original.tolist()
    assert nn.Linear(1, 1).weight.shape == (1, 1)  # the class itself is unchanged
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert layer.weight.tolist() == original
    assert not parametrize.is_parametrized(layer)


def test_repr_of_parametrization_shows_modules_only() -> None:
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Identity())
    assert "(weight): ParametrizationList(\n      (0): Identity()\n    )" in repr(layer)


def test_invalid_parametrization_raises() -> None:
    layer = nn.Linear(2, 1)
    with pytest.raises(nn.SettingError, match="no parameter 'wait'"):
        parametrizations.weight_norm(layer, "wait")
    with pytest.raises(nn.SettingError, match="no parameter 'wait'"):
        parametrizations.spectral_norm(layer, "wait")
    with pytest.raises(nn.SettingError, match="has no parametrized parameter"):
        parametrize.remove_parametrizations(layer, "weight")
    with pytest.raises(nn.InputError, match="must return shape"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))
    assert type(layer) is nn.Linear
    parametrizations.weight_norm(layer)
    with pytest.raises(nn.SettingError, match="computed from 2 tensors"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)


@pytest.mark.parametrize("kind", ["weight_norm", "weight_norm of all", "spectral_norm"])
@pytest.mark.parametrize(
    ("name", "settings", "shape"),
    [
        ("Linear", {"in_features": 3, "out_features": 4}, (2, 3)),
        ("Conv2d", {"in_channels": 3, "out_channels": 4, "kernel_size": 2}, (1, 3, 4, 4)),
        ("ConvTranspose1d", {"in_channels": 3, "out_channels": 4, "kernel_size": 2}, (1, 3, 4)),
    ],
)
def test_weight_and_spectral_norm_match_torch(
    kind: str, name: str, settings: dict[str, Any], shape: tuple[int, ...]
) -> None:
    torch = pytest.importorskip("torch")

    def normed(library: Any) -> Any:
        layer = getattr(library, name)(**settings).double()
        module: Any = library.utils.parametrizations
        if kind == "spectral_norm":
            return module.spectral_norm(layer, n_power_iterations=2)
        return module.weight_norm(layer, dim=None if kind.endswith("all") else 0)

    ours, theirs = normed(nn), normed(torch.nn)
    state = {key: value.numpy() for key, value in theirs.state_dict().items()}
    assert {key: value.shape for key, value in ours.state_dict().items()} == {
        key: value.shape for key, value in state.items()
    }
    ours.load_state_dict({key: mt.tensor(value.copy()) for key, value in state.items()})
    x = draw(*shape).astype("float64")
    for training in (True, True, False):
        mine = ours.train(training)(mt.tensor(x))
        other = theirs.train(training)(torch.from_numpy(x))
        np.testing.assert_allclose(mine.detach().numpy(), other.detach().numpy(), rtol=1e-10)
    mine.square().sum().backward()
    other.square().sum().backward()
    for (key, parameter), (their_key, their_parameter) in zip(
        ours.named_parameters(), theirs.named_parameters(), strict=True
    ):
        assert key == their_key
        np.testing.assert_allclose(
            parameter.grad.numpy(), their_parameter.grad.numpy(), 1e-9, 1e-10
        )


def test_spectral_norm_is_initially_close_to_1() -> None:
    layer = parametrizations.spectral_norm(nn.Linear(20, 30))
    assert 0.8 < np.linalg.norm(layer.weight.detach().numpy(), 2) < 1.3
    vector = parametrizations.spectral_norm(nn.Linear(2, 3), "bias")
    assert abs(vector.bias.square().sum().item() - 1) < 1e-6


# --- Fused layers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(
    ("layer", "norm", "shape"),
    [
        (nn.Conv2d(3, 4, 2), nn.BatchNorm2d, (2, 3, 4, 4)),
        (nn.ConvTranspose1d(3, 4, 2, bias=False), nn.BatchNorm1d, (2, 3, 4)),
        (nn.Linear(3, 4), nn.BatchNorm1d, (2, 3)),
    ],
)
def test_fused_layer_equals_layer_with_batch_norm(
    layer: nn.Module, norm: Any, shape: tuple[int, ...], affine: bool
) -> None:
    both = nn.Sequential(layer, norm(4, affine=affine))
    if affine:
        both[1].weight.update(draw(4))
        both[1].bias.update(draw(4, seed=1))
    for _ in range(3):
        both(mt.tensor(draw(*shape)))
    both.eval()
    if isinstance(layer, nn.Linear):
        fused: nn.Module = fuse_linear_bn_eval(layer, both[1])
    else:
        fused = fuse_conv_bn_eval(layer, both[1], isinstance(layer, nn.ConvTranspose1d))
    x = mt.tensor(draw(*shape, seed=2))
    np.testing.assert_allclose(
        fused(x).detach().numpy(), both(x).detach().numpy(), rtol=1e-4, atol=1e-5
    )
    assert layer.weight is both[0].weight
    with pytest.raises(nn.SettingError, match="evaluation mode"):
        fuse_conv_bn_eval(layer.train(), both[1])


def test_unpack_sequence_inverts_pack_sequence() -> None:
    sequences = [mt.rand(length, 2) for length in (2, 4, 1)]
    unpacked = unpack_sequence(pack_sequence(sequences, enforce_sorted=False))
    assert [mt.equal(a, b) for a, b in zip(sequences, unpacked, strict=True)] == [True] * 3
