"""Registered causal masks: recognition, and the same results as unregistered masks."""

import gc
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.layers.attention as attention
import mt_tensor as mt

X = np.random.default_rng(0).standard_normal((5, 3, 8)).astype("f4")


def test_causal_mask_is_recognized_until_modified() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert attention.is_causal_mask(mask)
    assert not attention.is_causal_mask(mask.clone())
    assert not attention.is_causal_mask(None)
    mask[0, 1] = 0.0
    assert not attention.is_causal_mask(mask)


def test_mask_that_requires_grad_is_not_recognized() -> None:
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    assert not attention.is_causal_mask(mask.requires_grad_())


def test_deleted_masks_are_unregistered() -> None:
    gc.collect()
    before = len(attention._causal_masks)
    mask = attention.causal_mask(3)
    assert len(attention._causal_masks) == before + 1
    del mask
    gc.collect()
    assert len(attention._causal_masks) == before


@pytest.mark.parametrize("options", [{}, {"add_bias_kv": True}, {"add_zero_attn": True}])
@pytest.mark.parametrize("padded", [False, True])
def test_recognized_mask_gives_same_result_as_its_copy(
    options: dict[str, bool], padded: bool
) -> None:
    layer = nn.MultiheadAttention(8, 2, **options)
    x, mask = mt.tensor(X), nn.Transformer.generate_square_subsequent_mask(5)
    padding = mt.tensor(np.arange(5) == np.array([[4], [3], [9]])) if padded else None
    with_registered, with_copy = (
        layer(x, x, x, padding, need_weights=False, attn_mask=attn_mask)[0].detach().numpy()
        for attn_mask in (mask, mask.clone())
    )
    np.testing.assert_allclose(with_registered, with_copy, rtol=1e-5, atol=1e-6)


def test_recognized_mask_is_replaced_by_is_causal(monkeypatch: pytest.MonkeyPatch) -> None:
    masks: list[mt.Tensor | None] = []
    attend = attention.scaled_dot_product_attention

    def record_mask(
        q: mt.Tensor, k: mt.Tensor, v: mt.Tensor, mask: mt.Tensor | None, *rest: Any
    ) -> Any:
        masks.append(mask)
        return attend(q, k, v, mask, *rest)

    monkeypatch.setattr(attention, "scaled_dot_product_attention", record_mask)
    layer, x = nn.MultiheadAttention(8, 2), mt.tensor(X)
    mask = nn.Transformer.generate_square_subsequent_mask(5)
    for attn_mask in (mask, mask.clone()):
        layer(x, x, x, need_weights=False, attn_mask=attn_mask)
    assert [each is None for each in masks] == [True, False]
