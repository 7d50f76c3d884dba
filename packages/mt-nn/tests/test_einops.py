"""Layers of einops: Rearrange, Reduce and EinMix, against einops and torch."""

import copy
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt

pytest.importorskip("einops")

from einops import rearrange, reduce

from mt_nn.layers.einops import EinMix, Rearrange, Reduce

X = np.random.default_rng(0).standard_normal((2, 1, 4, 6)).astype(np.float32)
PATCHES = "b c (h p1) (w p2) -> b (h w) (p1 p2 c)"


def test_rearrange_and_reduce_layers_match_einops_functions() -> None:
    model = nn.Sequential(
        Rearrange(PATCHES, p1=2, p2=3), nn.Linear(6, 5), Reduce("b n d -> b d", "max")
    )
    scores = copy.deepcopy(model)(mt.tensor(X))
    flat = model[1](mt.tensor(rearrange(X, PATCHES, p1=2, p2=3)))
    np.testing.assert_array_equal(scores.detach().numpy(), flat.detach().numpy().max(1))
    assert list(model.state_dict()) == ["1.weight", "1.bias"]
    assert repr(model[0]) == f"Rearrange({PATCHES!r}, p1=2, p2=3)"
    np.testing.assert_allclose(
        Reduce("b c (h 2) w -> b c h w", "mean")(mt.tensor(X)).numpy(),
        reduce(X, "b c (h 2) w -> b c h w", "mean"),
        rtol=1e-6,
    )


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("b c h w -> b c h d", {"weight_shape": "w d", "bias_shape": "d", "w": 6, "d": 3}),
        ("b c (h g) w -> b (h d) g", {"weight_shape": "c w d", "c": 1, "w": 6, "d": 2, "g": 2}),
    ],
)
def test_einmix_matches_torch_layer_of_einops(pattern: str, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    from einops.layers.torch import EinMix as Theirs

    ours, theirs = EinMix(pattern, **options).double(), Theirs(pattern, **options).double()
    assert {name: tuple(p.shape) for name, p in ours.named_parameters()} == {
        name: tuple(p.shape) for name, p in theirs.named_parameters()
    }
    for our_parameter, their_parameter in zip(ours.parameters(), theirs.parameters(), strict=True):
        our_parameter.data.copy_(mt.from_numpy(their_parameter.detach().numpy()))
    values = X.astype(np.float64)  # in float32, sums near zero would differ by their rounding
    found, expected = ours(mt.tensor(values)), theirs(torch.tensor(values))
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-9)
    found.sum().backward()
    assert all(p.grad is not None for p in ours.parameters())


def test_einmix_initial_weights_are_uniform_within_bounds() -> None:
    mix = EinMix("b c h w -> b c h d", weight_shape="w d", bias_shape="d", w=6, d=50)
    assert mix(mt.tensor(X)).shape == (2, 1, 4, 50)
    bound = (3 / 6) ** 0.5
    assert 0.8 * bound < mix.weight.abs().max().item() <= bound
    assert mix.bias is not None
    assert mix.bias.abs().max().item() > 0
