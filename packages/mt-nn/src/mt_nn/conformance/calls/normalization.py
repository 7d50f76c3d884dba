"""Normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.dtypes import Array


def normalized(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    """Return elements less their mean, divided by their deviation, over some axes."""
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    found: Array = (x - mean) / np.sqrt(variance + eps)
    return found


def _layer(x: Array, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Array:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    scaled = normalized(x, axes, eps) * (1.0 if weight is None else weight)
    return scaled + (0.0 if bias is None else bias)


CALLS = [
    call("functional.layer_norm", draw(4, 3, 5), (5,), draw(5), draw(5), oracle=_layer),
    call("functional.layer_norm", draw(4, 3, 5), (3, 5), eps=0.1, oracle=_layer),
    call("LayerNorm", draw(4, 3, 5), normalized_shape=5),
    call("LayerNorm", draw(4, 3, 5), normalized_shape=(3, 5), bias=False, eps=0.1),
    call("LayerNorm", draw(4, 3), normalized_shape=[3], elementwise_affine=False),
    call(
        "functional.batch_norm",
        draw(6, 3, 4),
        None,
        None,
        training=True,
        oracle=lambda x, *_, **__: normalized(x, (0, 2)),
    ),
]

REFUSED: list[Refused] = [
    refused("functional.layer_norm", draw(4, 3), (4,), says="whose last extents"),
    refused("LayerNorm", draw(4, 3), normalized_shape=4, says="whose last extents"),
]
