"""Calls of attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array

Q, K, V = draw(2, 3, 4, 5), draw(2, 3, 6, 5, seed=1), draw(2, 3, 6, 2, seed=2)
SHARED = draw(1, 4, 3, 2), draw(1, 2, 5, 2, seed=1), draw(1, 2, 5, 3, seed=2)

SCALED = "functional.scaled_dot_product_attention"

CALLS = [
    *(
        call(SCALED, Q, K, V, **settings)
        for settings in (
            {},
            {"is_causal": True},
            {"attn_mask": draw(4, 6)},
            {"attn_mask": draw(4, 6) > -0.8, "scale": 0.3},
            {"attn_mask": draw(2, 1, 1, 6) > 0.5},
            {"attn_mask": np.arange(4)[:, None] > np.arange(6)},  # a query without keys
        )
    ),
    call(SCALED, Q, K[0], V[:, :1]),
    call(SCALED, *SHARED, is_causal=True, enable_gqa=True),
]

SELF_ATTENTION = (draw(3, 2, 4),) * 3
ONE: dict[str, Any] = {"embed_dim": 4, "num_heads": 2}
CROSS_ATTENTION = (draw(2, 3, 4), draw(2, 5, 4, seed=1), draw(2, 5, 4, seed=2))
LATER = np.arange(3)[:, None] < np.arange(3)
PADDED = np.array([[False, False, True], [False, False, False]])

_MULTIHEAD: list[tuple[tuple[Array, ...], dict[str, Any], dict[str, Any]]] = [
    (SELF_ATTENTION, {}, {}),
    (SELF_ATTENTION, {"key_padding_mask": PADDED, "attn_mask": LATER, "need_weights": False}, {}),
    (SELF_ATTENTION, {"attn_mask": draw(4, 3, 3), "average_attn_weights": False}, {"bias": False}),
    (
        CROSS_ATTENTION,
        {"attn_mask": draw(3, 5), "key_padding_mask": draw(2, 5)},
        {"batch_first": True, "add_bias_kv": True, "add_zero_attn": True},
    ),
    ((*(array[0] for array in CROSS_ATTENTION),), {"key_padding_mask": np.arange(5) > 3}, {}),
    (
        (draw(3, 4), draw(5, 3), draw(5, 2)),
        {"attn_mask": draw(2, 3, 5), "need_weights": False},
        {"kdim": 3, "vdim": 2},
    ),
]
"""Inputs, options of the call, and settings of the layer."""

CALLS += [
    *(
        call("MultiheadAttention", *inputs, options=options, **settings, **ONE)
        for inputs, options, settings in _MULTIHEAD
    ),
    call(
        "MultiheadAttention", *SELF_ATTENTION, add_bias_kv=False, dropout=0.5, in_training=False,
        **ONE,
        options={"attn_mask": LATER, "is_causal": True, "need_weights": False}),
]  # fmt: skip
