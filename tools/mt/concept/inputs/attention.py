"""Two queries attend to three keys and values; the gradient is that of the queries."""

from typing import Any

from mt.concept.gradients import of_tensors

QUERIES = [[1.0, -0.5], [0.25, 2.0]]
KEYS = [[0.5, 1.0], [-1.0, 0.75], [2.0, -0.25]]
VALUES = [[1.0, 0.0], [-2.0, 3.0], [0.5, 4.0]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    keys, values = mt.tensor(KEYS), mt.tensor(VALUES)
    return of_tensors(lambda queries: (queries @ keys.T / 2.0**0.5).softmax(1) @ values, QUERIES)


def fast() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    attention, keys = nn.functional.scaled_dot_product_attention, mt.tensor(KEYS)
    return of_tensors(lambda queries: attention(queries, keys, mt.tensor(VALUES)), QUERIES)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    layer = nn.MultiheadAttention(2, 1, bias=False)
    with mt.no_grad():  # identity projections
        layer.get_parameter("in_proj_weight").copy_(mt.eye(2).repeat(3, 1))
        layer.get_parameter("out_proj.weight").copy_(mt.eye(2))
    return of_tensors(
        lambda queries: layer(queries, mt.tensor(KEYS), mt.tensor(VALUES))[0], QUERIES
    )


def reference() -> tuple[Any, Any]:
    import numpy as np

    queries, keys, values = np.array(QUERIES), np.array(KEYS), np.array(VALUES)
    powers = np.exp(queries @ keys.T / np.sqrt(2.0))
    weights = powers / powers.sum(1, keepdims=True)
    by_weights = values.sum(1)
    by_scores = weights * (by_weights - (weights * by_weights).sum(1, keepdims=True))
    return weights @ values, by_scores @ keys / np.sqrt(2.0)
