"""Attention, transformers and positional encodings: dropout, masks, copies, offsets, repr."""

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.conformance.drawing import draw

X = mt.tensor(draw(2, 5, 8))


def test_attention_applies_dropout_in_training_only() -> None:
    attention = nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True)
    for need_weights in (True, False):
        attention.train()
        first, second = (attention(X, X, X, need_weights=need_weights)[0] for _ in range(2))
        assert not mt.equal(first, second)
        attention.eval()
        first, second = (attention(X, X, X, need_weights=need_weights)[0] for _ in range(2))
        assert mt.equal(first, second)
    _, weights = attention.train()(X, X, X, average_attn_weights=False)
    assert weights is not None
    assert 0.2 < (weights == 0).float().mean().item() < 0.8


def test_attention_ignores_padded_keys() -> None:
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    padding = mt.tensor([[False] * 3 + [True] * 2] * 2)
    padded, weights = attention(X, X, X, padding)
    shortened, _ = attention(X, X[:, :3], X[:, :3])
    np.testing.assert_allclose(padded.detach(), shortened.detach(), rtol=1e-5, atol=1e-6)
    assert weights is not None
    assert not weights[:, :, 3:].any()


def test_causal_mask_hides_later_positions() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    assert mask.tolist() == [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]]
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    full = layer(X, mask, is_causal=True)
    prefix = layer(X[:, :3], mask[:3, :3])
    np.testing.assert_allclose(full[:, :3].detach(), prefix.detach(), rtol=1e-5, atol=1e-6)


def test_transformer_encoder_layers_are_independent_copies() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    encoder = nn.TransformerEncoder(layer, 2)
    first, second = (dict(copy.named_parameters()) for copy in encoder.layers)
    for name, parameter in first.items():
        assert mt.equal(parameter.value, second[name].value)
        assert parameter.value is not second[name].value
    encoder(X).square().sum().backward()
    gradients = [copy["linear1.weight"].value.grad for copy in (first, second)]
    assert not np.allclose(*gradients)
    assert dict(layer.named_parameters())["linear1.weight"].value.grad is None


def test_transformer_applies_dropout_in_training_only() -> None:
    model = nn.Transformer(8, 2, 1, 1, 16, dropout=0.5, batch_first=True)
    assert not mt.equal(model(X, X), model(X, X))
    model.eval()
    assert mt.equal(model(X, X), model(X, X))


def test_transformer_calls_the_custom_encoder() -> None:
    encoder = nn.Sequential(nn.Linear(8, 8))
    encoder.forward = lambda src, *_: src  # type: ignore[method-assign]
    model = nn.Transformer(8, 2, 1, 1, 16, custom_encoder=encoder, dropout=0.0)
    assert mt.equal(model(X, X), model.decoder(X, X))


@pytest.mark.parametrize("base", [10000.0, 10.0])
def test_rotary_products_depend_only_on_distance_and_norms_are_kept(base: float) -> None:
    rotary = nn.RotaryPositions(6, base)
    query, key = (mt.tensor(draw(1, 6, dtype="float64", seed=seed)) for seed in (1, 2))

    def product(query_position: int, key_position: int) -> float:
        result = rotary(query, offset=query_position) @ rotary(key, offset=key_position).T
        return float(result.item())

    for distance in (0, 1, 13):
        products = [product(start + distance, start) for start in (0, 3, 200)]
        np.testing.assert_allclose(products, products[0], rtol=1e-9)
    assert abs(product(1, 0) - product(0, 0)) > 1e-3
    for x, position in ((query, 5), (key, 77)):
        norm = rotary(x, offset=position).norm().item()
        np.testing.assert_allclose(norm, x.norm().item(), rtol=1e-12)


@pytest.mark.parametrize("layer", [nn.SinusoidalPositions(8), nn.RotaryPositions(8)])
def test_positions_with_offset_continue_the_sequence(layer: nn.Module) -> None:
    np.testing.assert_array_equal(layer(X)[:, 3:], layer(X[:, 3:], offset=3))
    assert layer(X.half()).dtype is mt.float16
    np.testing.assert_array_equal(
        type(layer)(8, dim=0)(X.transpose(0, 1)), layer(X).transpose(0, 1)
    )


def test_repr_shows_settings_of_norms_and_positions() -> None:
    assert repr(nn.LayerNorm(3)) == (
        "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"
    )
    assert repr(nn.RotaryPositions(4)) == "RotaryPositions(4, base=10000.0, dim=-2)"
    assert repr(nn.LearnedPositions(9, 4)) == "LearnedPositions(9, 4, dim=-2)"
