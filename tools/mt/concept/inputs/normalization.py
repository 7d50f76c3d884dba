"""The rows of a table are normalized, each as a sample, and then its columns.

The gradient is that of the squares of the first result. The last value is the running mean of
batch norm: a tenth of the mean of this batch.
"""

from typing import Any

from mt.concept.gradients import of_tensors

X = [[1.0, -2.0, 0.5], [4.0, 0.25, -1.0]]
EPS = 1e-5


def weighted(results: Any) -> Any:
    import mt_tensor as mt

    rows, *_ = results
    return rows * rows * mt.tensor([1.0, 2.0, 3.0])


def tensor() -> tuple[Any, Any]:
    def normalized(x: Any, dim: int) -> Any:
        mean, variance = x.mean(dim, keepdim=True), x.var(dim, correction=0, keepdim=True)
        return (x - mean) / (variance + EPS).sqrt()

    return of_tensors(
        lambda x: [normalized(x, 1), normalized(x, 0), 0.1 * x.mean(0)], X, loss=weighted
    )


def nn() -> tuple[Any, Any]:
    import mt_nn as nn

    layer, batch = nn.LayerNorm(3), nn.BatchNorm1d(3)
    return of_tensors(
        lambda x: [layer(x), batch(x), batch.get_buffer("running_mean")], X, loss=weighted
    )


fast = nn


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
