"""Linear maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw

_SIZES: dict[str, Any] = {"in1_features": 3, "in2_features": 2, "out_features": 4}

CALLS = [
    call("Linear", draw(5, 3), in_features=3, out_features=2),
    call("Linear", draw(2, 4, 3), in_features=3, out_features=1, bias=False),
    call("Linear", draw(3), in_features=3, out_features=2),
    call("functional.linear", draw(5, 3), draw(2, 3, seed=1)),
    call("functional.linear", draw(0, 3), draw(2, 3), draw(2)),
    call("Bilinear", draw(5, 3), draw(5, 2), **_SIZES),
    call("Bilinear", draw(2, 1, 3), draw(2, 1, 2), bias=False, **_SIZES),
    call("functional.bilinear", draw(3), draw(2), draw(4, 3, 2), draw(4)),
    call("functional.bilinear", draw(0, 3), draw(0, 2), draw(4, 3, 2)),
    call("Identity", draw(2, 3)),
    call("Unflatten", draw(2, 6, 2), dim=1, unflattened_size=(3, -1)),
    call("Flatten", draw(2, 3, 4)),
    call("Flatten", draw(2, 3, 4, 5), start_dim=-3, end_dim=2),
]

REFUSED: list[Refused] = [
    refused("Linear", draw(5, 4), in_features=3, out_features=2, says="expects 3 inputs"),
    refused("Linear", in_features=3, out_features=-1, says="from 1 on"),
    refused("Bilinear", draw(5, 2), draw(5, 3), says="bilinear", **_SIZES),
    refused("functional.bilinear", draw(5, 3), draw(4, 2), draw(4, 3, 2), says="bilinear"),
    refused("functional.bilinear", draw(3), draw(2), draw(4, 3, 2), draw(3), says="bilinear"),
    refused("Unflatten", draw(2, 6), dim=1, unflattened_size=(4, -1), says="6"),
    refused("functional.linear", draw(5, 3), draw(2, 4), says="expects 4 inputs"),
    refused("functional.linear", np.array(1.0), draw(2, 4), says="expects 4 inputs"),
    refused("functional.linear", draw(5, 3), np.ones((2, 3), int), says="one dtype"),
    refused("Linear", np.ones((5, 3), int), in_features=3, out_features=2, says="one dtype"),
    refused("functional.linear", draw(5, 3), draw(2, 3), draw(3), says="bias of shape"),
    refused("functional.bilinear", draw(3), np.ones(2, int), draw(4, 3, 2), says="one dtype"),
    refused("Flatten", draw(2, 3, 4), start_dim=3, says="out of range"),
]
