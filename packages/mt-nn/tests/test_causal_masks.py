"""Masks that are known to be causal: they make no difference but that nobody reads them."""

import gc

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.functional.attention as attention
import mt_tensor as mt
from mt_nn.functional import causal

X = np.random.default_rng(0).standard_normal((5, 3, 8)).astype("f4")


def test_a_causal_mask_is_known_until_it_is_changed() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert causal.is_causal_mask(mask)
    assert not causal.is_causal_mask(mask.clone())
    assert not causal.is_causal_mask(None)
    mask[0, 1] = 0.0
    assert not causal.is_causal_mask(mask)


def test_a_mask_that_is_differentiated_by_is_none_of_them() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert not causal.is_causal_mask(mask.requires_grad_())


def test_masks_are_forgotten_with_their_tensors() -> None:
    gc.collect()
    before = len(causal._MADE)
    mask = causal.causal_mask(3)
    assert len(causal._MADE) == before + 1
    del mask
    gc.collect()
    assert len(causal._MADE) == before


@pytest.mark.parametrize("options", [{}, {"add_bias_kv": True}, {"add_zero_attn": True}])
@pytest.mark.parametrize("padded", [False, True])
def test_a_layer_attends_the_same_by_a_mask_that_is_known(
    options: dict[str, bool], padded: bool
) -> None:
    layer = nn.MultiheadAttention(8, 2, **options)
    x, mask = mt.tensor(X), nn.Transformer.generate_square_subsequent_mask(5)
    padding = mt.tensor(np.arange(5) == np.array([[4], [3], [9]])) if padded else None
    known, read = (
        layer(x, x, x, padding, need_weights=False, attn_mask=given)[0].detach().numpy()
        for given in (mask, mask.clone())
    )
    np.testing.assert_allclose(known, read, rtol=1e-5, atol=1e-6)


def test_a_known_mask_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[mt.Tensor | None] = []

    def read(mask: mt.Tensor, like: mt.Tensor) -> mt.Tensor:
        seen.append(mask)
        return mask

    monkeypatch.setattr(attention, "additive", read)
    layer, x = nn.MultiheadAttention(8, 2), mt.tensor(X)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    for given in (mask, mask.clone()):
        layer(x, x, x, need_weights=False, attn_mask=given)
        seen.append(None)
    assert seen[0] is None
    assert len(seen) == 3
