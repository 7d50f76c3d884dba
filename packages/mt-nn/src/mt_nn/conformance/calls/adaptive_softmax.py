"""The softmax over clusters of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw

_CLASSES = np.array([0, 2, 3, 7, 11, 5])
_SETTINGS: dict[str, Any] = {"in_features": 8, "n_classes": 12, "cutoffs": [3, 6], "div_value": 2.0}
_NAME = "AdaptiveLogSoftmaxWithLoss"

CALLS = [
    call(_NAME, draw(6, 8), _CLASSES, **_SETTINGS),
    call(_NAME, draw(6, 8), _CLASSES % 3, head_bias=True, **_SETTINGS),
    call(_NAME, draw(8), np.array(4), **_SETTINGS),
]

REFUSED: list[Refused] = [
    refused(_NAME, draw(6, 7), _CLASSES, says="8", **_SETTINGS),
    refused(_NAME, draw(2, 6, 8), _CLASSES, says="batch", **_SETTINGS),
    refused(_NAME, draw(6, 8), _CLASSES[:5], says="integers of shape", **_SETTINGS),
    refused(_NAME, draw(6, 8), _CLASSES + 1, says="from 0 to 11", **_SETTINGS),
    refused(_NAME, draw(6, 8), _CLASSES - 1, says="from 0 to 11", **_SETTINGS),
    refused(_NAME, in_features=8, n_classes=5, cutoffs=[3, 2], says="cutoffs must be"),
    refused(_NAME, in_features=8, n_classes=12, cutoffs=[3, 6], says="no features"),
    refused(_NAME, in_features=8, n_classes=5, cutoffs=[5], says="cutoffs must be"),
    refused(_NAME, in_features=8, n_classes=5, cutoffs=[0, 2], says="from 1 on"),
]
