"""Attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def attention(
    q: Array,
    k: Array,
    v: Array,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Array:
    """Return values weighted by how well their keys fit the queries; zeros if there are none."""
    if enable_gqa:
        k, v = (np.repeat(each, q.shape[-3] // each.shape[-3], -3) for each in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    if attn_mask is not None:
        scores = (
            np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
        )
    greatest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(greatest), 0, greatest))
    total = weights.sum(-1, keepdims=True)
    found: Array = weights / np.where(total, total, 1) @ v
    return found


def multihead(
    query: Array,
    key: Array,
    value: Array,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    average_attn_weights: bool = True,
    *,
    embed_dim: int,
    num_heads: int,
    add_zero_attn: bool = False,
    batch_first: bool = False,
    **given: Any,
) -> Any:
    """Return the attention of several heads, for each batch and head alone, and its weights."""
    if query.ndim == 2:
        padding = None if key_padding_mask is None else key_padding_mask[None]
        given |= {"embed_dim": embed_dim, "num_heads": num_heads, "add_zero_attn": add_zero_attn}
        masks = padding, need_weights, attn_mask, average_attn_weights
        batch: Any = query[None], key[None], value[None], *masks
        found = multihead(*batch, batch_first=True, **given)
        return tuple(None if part is None else part[0] for part in found)
    if not batch_first:
        query, key, value = (x.swapaxes(0, 1) for x in (query, key, value))
    if "in_proj_weight" in given:
        projections = np.split(given["in_proj_weight"], 3)
    else:
        projections = [given[f"{name}_proj_weight"] for name in "qkv"]
    biases = np.split(given.get("in_proj_bias", np.zeros(3 * embed_dim)), 3)
    width = embed_dim // num_heads
    results: Array = np.zeros(query.shape)
    weights = []
    for row, head in np.ndindex(len(query), num_heads):
        part = slice(head * width, (head + 1) * width)
        q, k, v = (
            x[row] @ weight[part].T + bias[part]
            for x, weight, bias in zip((query, key, value), projections, biases, strict=True)
        )
        added = np.zeros((len(q), len(k)))
        for mask in (
            key_padding_mask if key_padding_mask is None else key_padding_mask[row],
            attn_mask if np.ndim(attn_mask) != 3 else attn_mask[row * num_heads + head],
        ):
            if mask is not None:
                added += np.where(mask, -np.inf, 0) if mask.dtype == bool else mask
        more = [given["bias_k"], given["bias_v"]] if "bias_k" in given else []
        if more:
            k, v = (np.append(x, y[0, :, part], 0) for x, y in zip((k, v), more, strict=True))
        if add_zero_attn:
            k, v = (np.append(x, np.zeros((1, width)), 0) for x in (k, v))
        scores = q @ k.T / np.sqrt(width) + np.pad(added, ((0, 0), (0, len(k) - added.shape[1])))
        weighted = np.exp(scores)
        weights.append(weighted / weighted.sum(-1, keepdims=True))
        results[row, :, part] = weights[-1] @ v
    results = results @ given["out_proj.weight"].T + given.get("out_proj.bias", 0.0)
    results = results if batch_first else results.swapaxes(0, 1)
    if not need_weights:
        return results, None
    whole = np.stack(weights).reshape(len(query), num_heads, *weights[0].shape)
    return results, whole.mean(1) if average_attn_weights else whole


Q, K, V = draw(2, 3, 4, 5), draw(2, 3, 6, 5, seed=1), draw(2, 3, 6, 2, seed=2)
SHARED = draw(1, 4, 3, 2), draw(1, 2, 5, 2, seed=1), draw(1, 2, 5, 3, seed=2)

SCALED = "functional.scaled_dot_product_attention"

CALLS = [
    *(
        call(SCALED, Q, K, V, oracle=attention, **settings)
        for settings in (
            {},
            {"is_causal": True},
            {"attn_mask": draw(4, 6)},
            {"attn_mask": draw(4, 6) > -0.8, "scale": 0.3},
            {"attn_mask": draw(2, 1, 1, 6) > 0.5},
            {"attn_mask": np.arange(4)[:, None] > np.arange(6)},  # the first sees nothing
        )
    ),
    call(SCALED, Q, K[0], V[:, :1], oracle=attention),
    call(SCALED, *SHARED, is_causal=True, enable_gqa=True, oracle=attention),
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
        call("MultiheadAttention", *inputs, options=options, oracle=multihead, **settings, **ONE)
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
