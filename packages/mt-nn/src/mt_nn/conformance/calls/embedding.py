"""Calls of embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Call, call
from mt_nn.conformance.drawing import draw

NUMBERS = np.array([[1, 0, 4], [4, 4, 2]])
FLAT = NUMBERS.reshape(-1)
OFFSETS = np.array([0, 2, 2, 5])
"""The starts of four bags of the six indices; the second is empty."""


_SETTINGS: list[dict[str, Any]] = [
    {"max_norm": 1.0, "smooth": False},
    {"max_norm": 1.0, "norm_type": 1.0, "smooth": False},
    {"scale_grad_by_freq": True, "smooth": False},
    {"padding_idx": -1, "scale_grad_by_freq": True, "smooth": False},
    {"padding_idx": 2, "smooth": False},
]
TABLE: dict[str, Any] = {"num_embeddings": 5, "embedding_dim": 3}
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
        call("functional.embedding", NUMBERS, draw(5, 3), **settings)
        for settings in _SETTINGS[2:]  # torch cannot modify a leaf in place
    ),
    call("Embedding", NUMBERS[0], **TABLE),
    call("Embedding", np.array(3), **TABLE),
    *(call("Embedding", NUMBERS, **TABLE, **settings) for settings in _SETTINGS),
    *(call("EmbeddingBag", NUMBERS, **TABLE, **settings) for settings in _BAGS),
    *(
        call("EmbeddingBag", FLAT, options={"offsets": OFFSETS}, **TABLE, **settings)
        for settings in _BAGS
    ),
    call(
        "EmbeddingBag", FLAT, options={"offsets": np.append(OFFSETS, 6)}, include_last_offset=True,
        **TABLE),
    call("EmbeddingBag", NUMBERS, options={"per_sample_weights": draw(2, 3)}, mode="sum", **TABLE),
    call("functional.embedding_bag", NUMBERS, draw(5, 3)),
    call(
        "functional.embedding_bag", FLAT, draw(5, 3), OFFSETS, mode="sum",
        per_sample_weights=draw(6), padding_idx=4),
]  # fmt: skip
