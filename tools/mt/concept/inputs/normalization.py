"""The rows of a table, each a sample, are normalized for themselves, and then its columns.

The gradient is that of the squares of the first. Last come the means that batch norm remembers: a
tenth of those of this batch.
"""

from typing import Any

X = [[1.0, -2.0, 0.5], [4.0, 0.25, -1.0]]
EPS = 1e-5


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    def normalized(x: Any, dim: int) -> Any:
        mean, variance = x.mean(dim, keepdim=True), x.var(dim, correction=0, keepdim=True)
        return (x - mean) / (variance + EPS).sqrt()

    x = mt.tensor(X, requires_grad=True)
    rows = normalized(x, 1)
    (rows * rows * mt.tensor([1.0, 2.0, 3.0])).sum().backward()
    return [rows, normalized(x, 0), 0.1 * x.mean(0)], x.grad


def numpy() -> tuple[Any, Any]:
    return nn()


def fast() -> tuple[Any, Any]:
    return nn()


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    layer, batch = nn.LayerNorm(3), nn.BatchNorm1d(3)
    x = mt.tensor(X, requires_grad=True)
    rows = layer(x)
    (rows * rows * mt.tensor([1.0, 2.0, 3.0])).sum().backward()
    columns = batch(x)
    return [rows, columns, batch.get_buffer("running_mean")], x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    def normalized(x: Any, axis: int) -> Any:
        return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + EPS)

    x = np.array(X)
    rows = normalized(x, 1)
    upstream = 2.0 * rows * [1.0, 2.0, 3.0]
    inner = upstream - upstream.mean(1, keepdims=True)
    inner -= rows * (upstream * rows).mean(1, keepdims=True)
    slopes = inner / np.sqrt(x.var(1, keepdims=True) + EPS)
    return [rows, normalized(x, 0), 0.1 * x.mean(0)], slopes
