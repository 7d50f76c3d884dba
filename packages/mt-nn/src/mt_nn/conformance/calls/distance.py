"""Calls of similarities and distances of vectors, and of normalization."""

from __future__ import annotations

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw

X, Y = draw(3, 4), draw(3, 4, seed=1)

CALLS = [
    call("CosineSimilarity", X, Y),
    call("CosineSimilarity", X, Y, dim=0, eps=0.1),
    call("functional.cosine_similarity", X, Y[:1]),
    call("PairwiseDistance", X, Y),
    call("PairwiseDistance", X, Y[0], p=3.0, eps=0.1, keepdim=True),
    call("functional.pairwise_distance", X[0], Y[0], p=1.0),
    call("functional.normalize", X),
    call("functional.normalize", draw(2, 3, 2), p=1.0, dim=-1),
    call("functional.normalize", X, p=3.0, dim=0, eps=100.0),
    call("functional.normalize", 3.0 * draw(3, 4), p=0.0, smooth=False),
]
