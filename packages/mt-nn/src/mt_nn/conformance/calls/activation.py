"""Activations."""

from __future__ import annotations

import numpy as np

from mt_nn.conformance.calls.call import Refused, call
from mt_nn.conformance.drawing import draw

X = draw(3, 4)

CALLS = [
    call("ReLU", X, oracle=lambda x: np.maximum(x, 0)),
    call("Sigmoid", X, oracle=lambda x: 1 / (1 + np.exp(-x))),
    call("Tanh", X, oracle=np.tanh),
]
REFUSED: list[Refused] = []
