"""Two queries attend to three keys and their values; the gradient is that of the queries."""

from typing import Any

QUERIES = [[1.0, -0.5], [0.25, 2.0]]
KEYS = [[0.5, 1.0], [-1.0, 0.75], [2.0, -0.25]]
VALUES = [[1.0, 0.0], [-2.0, 3.0], [0.5, 4.0]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    queries = mt.tensor(QUERIES, requires_grad=True)
    scores = queries @ mt.tensor(KEYS).T / 2.0**0.5
    out = scores.softmax(1) @ mt.tensor(VALUES)
    out.sum().backward()
    return out, queries.grad


def fast() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    queries = mt.tensor(QUERIES, requires_grad=True)
    out = nn.functional.scaled_dot_product_attention(queries, mt.tensor(KEYS), mt.tensor(VALUES))
    out.sum().backward()
    return out, queries.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    layer = nn.MultiheadAttention(2, 1, bias=False)
    with mt.no_grad():  # projections that change nothing
        layer.get_parameter("in_proj_weight").copy_(mt.eye(2).repeat(3, 1))
        layer.get_parameter("out_proj.weight").copy_(mt.eye(2))
    queries = mt.tensor(QUERIES, requires_grad=True)
    out, _ = layer(queries, mt.tensor(KEYS), mt.tensor(VALUES))
    out.sum().backward()
    return out, queries.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    queries, keys, values = np.array(QUERIES), np.array(KEYS), np.array(VALUES)
    powers = np.exp(queries @ keys.T / np.sqrt(2.0))
    weights = powers / powers.sum(1, keepdims=True)
    by_weights = values.sum(1)
    by_scores = weights * (by_weights - (weights * by_weights).sum(1, keepdims=True))
    return weights @ values, by_scores @ keys / np.sqrt(2.0)
