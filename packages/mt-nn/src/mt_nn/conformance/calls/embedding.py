"""Embeddings."""

from __future__ import annotations

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw

NUMBERS = np.array([[1, 0, 4], [4, 4, 2]])

CALLS = [
    call("functional.embedding", NUMBERS, draw(5, 3), oracle=lambda i, table: table[i]),
]

REFUSED: list[Refused] = [
    refused("functional.embedding", NUMBERS, draw(4, 3), says="out of range"),
]
