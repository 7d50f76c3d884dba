"""Attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.dtypes import Array


def attention(
    q: Array, k: Array, v: Array, attn_mask: Any = None, is_causal: bool = False, scale: Any = None
) -> Array:
    """Return values weighted by how well their keys fit the queries."""
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    if attn_mask is not None:
        scores = (
            np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
        )
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    found: Array = weights / weights.sum(-1, keepdims=True) @ v
    return found


Q, K, V = draw(2, 3, 4, 5), draw(2, 3, 6, 5, seed=1), draw(2, 3, 6, 2, seed=2)

CALLS = [
    call("functional.scaled_dot_product_attention", Q, K, V, oracle=attention, **settings)
    for settings in (
        {},
        {"is_causal": True},
        {"attn_mask": draw(4, 6)},
        {"attn_mask": draw(4, 6) > -0.8, "scale": 0.3},
    )
]

REFUSED: list[Refused] = [
    refused("functional.scaled_dot_product_attention", Q, K[..., :4], V, says="shape"),
]
