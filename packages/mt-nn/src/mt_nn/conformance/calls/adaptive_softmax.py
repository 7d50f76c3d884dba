"""Calls of adaptive softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw

CLASSES = np.array([0, 2, 3, 7, 11, 5])
SETTINGS: dict[str, Any] = {"in_features": 8, "n_classes": 12, "cutoffs": [3, 6], "div_value": 2.0}
NAME = "AdaptiveLogSoftmaxWithLoss"

CALLS = [
    call(NAME, draw(6, 8), CLASSES, **SETTINGS),
    call(NAME, draw(6, 8), CLASSES % 3, head_bias=True, **SETTINGS),
    call(NAME, draw(8), np.array(4), **SETTINGS),
]
