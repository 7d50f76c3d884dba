"""Embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Call, Refused, call, refused
from mt_nn.conformance.drawing import draw

NUMBERS = np.array([[1, 0, 4], [4, 4, 2]])
_FLAT = NUMBERS.reshape(-1)
OFFSETS = np.array([0, 2, 2, 5])
"""Where four bags of the six numbers begin; the second is empty."""


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
    call("functional.embedding", NUMBERS, draw(5, 3)),
    *(
        call("functional.embedding", NUMBERS, draw(5, 3), **told)
        for told in _SETTINGS[2:]  # a leaf could not be changed in place by torch
    ),
    call("Embedding", NUMBERS[0], **_TABLE),
    call("Embedding", np.array(3), **_TABLE),
    *(call("Embedding", NUMBERS, **_TABLE, **told) for told in _SETTINGS),
    *(call("EmbeddingBag", NUMBERS, **_TABLE, **told) for told in _BAGS),
    *(
        call("EmbeddingBag", _FLAT, options={"offsets": OFFSETS}, **_TABLE, **told)
        for told in _BAGS
    ),
    call(
        "EmbeddingBag",
        _FLAT,
        options={"offsets": np.append(OFFSETS, 6)},
        include_last_offset=True,
        **_TABLE,
    ),
    call("EmbeddingBag", NUMBERS, options={"per_sample_weights": draw(2, 3)}, mode="sum", **_TABLE),
    call("functional.embedding_bag", NUMBERS, draw(5, 3)),
    call(
        "functional.embedding_bag",
        _FLAT,
        draw(5, 3),
        OFFSETS,
        mode="sum",
        per_sample_weights=draw(6),
        padding_idx=4,
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
