"""Embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Call, Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array

NUMBERS = np.array([[1, 0, 4], [4, 4, 2]])
_FLAT = NUMBERS.reshape(-1)
OFFSETS = np.array([0, 2, 2, 5])
"""Where four bags of the six numbers begin; the second is empty."""


def _limited(
    table: Array, numbers: Array, max_norm: float | None = None, norm_type: float = 2.0
) -> Array:
    """Return a table in which no row that is looked up has a larger norm."""
    found = table.copy()
    for row in np.unique(numbers) if max_norm is not None else ():
        norm = (abs(table[row]) ** norm_type).sum() ** (1 / norm_type)
        if norm > max_norm:
            found[row] *= max_norm / (norm + 1e-7)
    return found


def _embedding(
    numbers: Array, weight: Array, max_norm: Any = None, norm_type: float = 2.0, **_: Any
) -> Array:
    found: Array = _limited(weight, numbers, max_norm, norm_type)[numbers]
    return found


def _bag(
    numbers: Array,
    weight: Array,
    offsets: Array | None = None,
    per_sample_weights: Array | None = None,
    mode: str = "mean",
    padding_idx: int | None = None,
    include_last_offset: bool = False,
    max_norm: Any = None,
    **_: Any,
) -> Array:
    table = _limited(weight, numbers, max_norm)
    flat, factors = numbers.reshape(-1), np.ones(numbers.size)
    if per_sample_weights is not None:
        factors = per_sample_weights.reshape(-1)
    starts = np.arange(0, flat.size, numbers.shape[-1]) if offsets is None else offsets
    ends = np.append(starts, flat.size)[1:]
    if include_last_offset:
        starts, ends = starts[:-1], ends[:-1]
    fold: Any = {"sum": np.sum, "mean": np.mean, "max": np.max}[mode]
    out = np.zeros((len(starts), weight.shape[1]))
    for bag, (start, end) in enumerate(zip(starts, ends, strict=True)):
        kept = [i for i in range(start, end) if padding_idx is None or flat[i] != padding_idx % 5]
        if kept:
            out[bag] = fold(table[flat[kept]] * factors[kept][:, None], axis=0)
    return out


_SETTINGS: list[dict[str, Any]] = [
    {"max_norm": 1.0, "smooth": False},
    {"max_norm": 1.0, "norm_type": 1.0, "smooth": False},
    {"scale_grad_by_freq": True, "smooth": False},
    {"padding_idx": -1, "scale_grad_by_freq": True, "smooth": False},
    {"padding_idx": 2, "smooth": False},
]
_TABLE: dict[str, Any] = {"num_embeddings": 5, "embedding_dim": 3}
_BAGS: list[dict[str, Any]] = [
    {},
    {"mode": "sum"},
    {"mode": "max"},
    {"mode": "sum", "padding_idx": 4},
    {"mode": "mean", "padding_idx": -1},
    {"mode": "max", "padding_idx": 4},
    {"mode": "sum", "max_norm": 1.0, "smooth": False},
    {"mode": "sum", "scale_grad_by_freq": True, "smooth": False},
]

CALLS: list[Call] = [
    call("functional.embedding", NUMBERS, draw(5, 3), oracle=lambda i, table: table[i]),
    *(
        call("functional.embedding", NUMBERS, draw(5, 3), oracle=_embedding, **told)
        for told in _SETTINGS[2:]  # a leaf could not be changed in place by torch
    ),
    call("Embedding", NUMBERS[0], oracle=_embedding, **_TABLE),
    call("Embedding", np.array(3), oracle=_embedding, **_TABLE),
    *(call("Embedding", NUMBERS, oracle=_embedding, **_TABLE, **told) for told in _SETTINGS),
    *(call("EmbeddingBag", NUMBERS, oracle=_bag, **_TABLE, **told) for told in _BAGS),
    *(
        call("EmbeddingBag", _FLAT, options={"offsets": OFFSETS}, oracle=_bag, **_TABLE, **told)
        for told in _BAGS
    ),
    call(
        "EmbeddingBag",
        _FLAT,
        options={"offsets": np.append(OFFSETS, 6)},
        oracle=_bag,
        include_last_offset=True,
        **_TABLE,
    ),
    call(
        "EmbeddingBag",
        NUMBERS,
        options={"per_sample_weights": draw(2, 3)},
        mode="sum",
        oracle=_bag,
        **_TABLE,
    ),
    call("functional.embedding_bag", NUMBERS, draw(5, 3), oracle=_bag),
    call(
        "functional.embedding_bag",
        _FLAT,
        draw(5, 3),
        OFFSETS,
        mode="sum",
        per_sample_weights=draw(6),
        padding_idx=4,
        oracle=_bag,
    ),
]

REFUSED: list[Refused] = [
    refused("functional.embedding", NUMBERS, draw(4, 3), says="out of range"),
    refused("functional.embedding", -NUMBERS, draw(5, 3), says="out of range"),
    refused("functional.embedding", NUMBERS, draw(5, 3), padding_idx=5, says="one of 5 rows"),
    refused("functional.embedding", draw(3), draw(5, 3), says="takes integers"),
    refused("Embedding", padding_idx=-6, says="from -5 on", **_TABLE),
    refused("EmbeddingBag", mode="min", says="got 'min'", **_TABLE),
    refused("EmbeddingBag", NUMBERS, mode="max", scale_grad_by_freq=True, says="does", **_TABLE),
    refused("functional.embedding_bag", _FLAT, draw(5, 3), says="no offsets were given"),
    refused("functional.embedding_bag", NUMBERS, draw(5, 3), OFFSETS, says="and no offsets"),
    refused("functional.embedding_bag", _FLAT, draw(5, 3), OFFSETS + 1, says="begin with 0"),
    refused("functional.embedding_bag", _FLAT, draw(5, 3), OFFSETS * 2, says="end at most"),
    refused(
        "functional.embedding_bag",
        NUMBERS,
        draw(5, 3),
        per_sample_weights=draw(2, 3),
        says="mode='sum' only",
    ),
    refused("functional.embedding_bag", np.ones((2, 3), int), np.ones((5, 3), int), says="float"),
]
