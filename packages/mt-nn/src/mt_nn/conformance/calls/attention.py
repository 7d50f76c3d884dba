"""Attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
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
            {"attn_mask": np.arange(4)[:, None] > np.arange(6)},  # the first sees nothing
        )
    ),
    call(SCALED, Q, K[0], V[:, :1]),
    call(SCALED, *SHARED, is_causal=True, enable_gqa=True),
]

ALIKE = (draw(3, 2, 4),) * 3
ONE: dict[str, Any] = {"embed_dim": 4, "num_heads": 2}
APART = (draw(2, 3, 4), draw(2, 5, 4, seed=1), draw(2, 5, 4, seed=2))
LATER = np.arange(3)[:, None] < np.arange(3)
PADDED = np.array([[False, False, True], [False, False, False]])

_MULTIHEAD: list[tuple[tuple[Array, ...], dict[str, Any], dict[str, Any]]] = [
    (ALIKE, {}, {}),
    (ALIKE, {"key_padding_mask": PADDED, "attn_mask": LATER, "need_weights": False}, {}),
    (ALIKE, {"attn_mask": draw(4, 3, 3), "average_attn_weights": False}, {"bias": False}),
    (
        APART,
        {"attn_mask": draw(3, 5), "key_padding_mask": draw(2, 5)},
        {"batch_first": True, "add_bias_kv": True, "add_zero_attn": True},
    ),
    ((*(array[0] for array in APART),), {"key_padding_mask": np.arange(5) > 3}, {}),
    (
        (draw(3, 4), draw(5, 3), draw(5, 2)),
        {"attn_mask": draw(2, 3, 5), "need_weights": False},
        {"kdim": 3, "vdim": 2},
    ),
]
"""Inputs, what is said of them, and how the layer is set."""

CALLS += [
    *(
        call("MultiheadAttention", *inputs, options=options, **settings, **ONE)
        for inputs, options, settings in _MULTIHEAD
    ),
    call(
        "MultiheadAttention",
        *ALIKE,
        add_bias_kv=False,
        dropout=0.5,
        in_training=False,
        options={"attn_mask": LATER, "is_causal": True, "need_weights": False},
        **ONE,
    ),
]

REFUSED: list[Refused] = [
    refused(SCALED, Q, K[..., :4], V, says="shape"),
    refused(SCALED, Q, K, V, attn_mask=draw(3, 6), says="do not broadcast"),
    refused(SCALED, Q, K, V, attn_mask=np.ones((4, 6), np.int64), says="bools or floats"),
    refused(SCALED, Q, K, V, attn_mask=draw(4, 6), is_causal=True, says="not both"),
    refused(SCALED, Q, K, V, dropout_p=1.5, says="probability"),
    refused(SCALED, Q, K[:, :2], V[:, :2], enable_gqa=True, says="divides that of the queries"),
    refused(SCALED, Q[0], K[:, :2], V, says="do not broadcast"),
    refused(SCALED, Q[0, 0, 0], K, V, says="attention takes queries"),
    refused("MultiheadAttention", says="multiple of num_heads", embed_dim=4, num_heads=3),
    refused("MultiheadAttention", says="num_heads", embed_dim=4, num_heads=0),
    refused("MultiheadAttention", *(draw(3, 2, 5),) * 3, says="with 4, 4 and 4 features", **ONE),
    refused("MultiheadAttention", draw(3, 2, 4), *(draw(3, 4),) * 2, says="shapes", **ONE),
    refused("MultiheadAttention", draw(3, 2, 4), *(draw(3, 1, 4),) * 2, says="shapes", **ONE),
    refused("MultiheadAttention", *ALIKE, draw(3, 2), says="key_padding_mask holds", **ONE),
    refused("MultiheadAttention", *ALIKE, draw(3), says="key_padding_mask holds", **ONE),
    refused("MultiheadAttention", *ALIKE, None, False, draw(3, 4), says="attn_mask holds", **ONE),
    refused(
        "MultiheadAttention", *ALIKE, None, False, None, True, True, says="needs one", **ONE
    ),
]  # fmt: skip
