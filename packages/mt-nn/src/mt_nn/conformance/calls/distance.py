"""How alike vectors are, how far apart, and how long."""

from __future__ import annotations

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def _cosine(x1: Array, x2: Array, dim: int = 1, eps: float = 1e-8) -> Array:
    lengths = [np.maximum(np.linalg.norm(x, axis=dim), eps) for x in (x1, x2)]
    cosine: Array = (x1 * x2).sum(dim) / (lengths[0] * lengths[1])
    return cosine


def _distance(
    x1: Array, x2: Array, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Array:
    return np.asarray((abs(x1 - x2 + eps) ** p).sum(-1, keepdims=keepdim) ** (1 / p))


def _unit(x: Array, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Array:
    return np.asarray(x / np.maximum(np.linalg.norm(x, p, dim, keepdims=True), eps))


X, Y = draw(3, 4), draw(3, 4, seed=1)

CALLS = [
    call("CosineSimilarity", X, Y, oracle=_cosine),
    call("CosineSimilarity", X, Y, dim=0, eps=0.1, oracle=_cosine),
    call("functional.cosine_similarity", X, Y[:1], oracle=_cosine),
    call("PairwiseDistance", X, Y, oracle=_distance),
    call("PairwiseDistance", X, Y[0], p=3.0, eps=0.1, keepdim=True, oracle=_distance),
    call("functional.pairwise_distance", X[0], Y[0], p=1.0, oracle=_distance),
    call("functional.normalize", X, oracle=_unit),
    call("functional.normalize", draw(2, 3, 2), p=1.0, dim=-1, oracle=_unit),
    call("functional.normalize", X, p=3.0, dim=0, eps=100.0, oracle=_unit),
    call("functional.normalize", 3.0 * draw(3, 4), p=0.0, oracle=_unit, smooth=False),
]

REFUSED: list[Refused] = [
    refused("functional.normalize", X, dim=2, says="out of range"),
    refused("functional.normalize", np.zeros((2, 2), np.int64), says="not int64"),
    refused("CosineSimilarity", X, draw(3, 5), says="broadcast"),
]
