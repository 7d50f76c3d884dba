"""Calls of linear maps."""

from __future__ import annotations

from typing import Any

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw

SIZES: dict[str, Any] = {"in1_features": 3, "in2_features": 2, "out_features": 4}

CALLS = [
    call("Linear", draw(5, 3), in_features=3, out_features=2),
    call("Linear", draw(2, 4, 3), in_features=3, out_features=1, bias=False),
    call("Linear", draw(3), in_features=3, out_features=2),
    call("functional.linear", draw(5, 3), draw(2, 3, seed=1)),
    call("functional.linear", draw(0, 3), draw(2, 3), draw(2)),
    call("Bilinear", draw(5, 3), draw(5, 2), **SIZES),
    call("Bilinear", draw(2, 1, 3), draw(2, 1, 2), bias=False, **SIZES),
    call("functional.bilinear", draw(3), draw(2), draw(4, 3, 2), draw(4)),
    call("functional.bilinear", draw(0, 3), draw(0, 2), draw(4, 3, 2)),
    call("Identity", draw(2, 3)),
    call("Unflatten", draw(2, 6, 2), dim=1, unflattened_size=(3, -1)),
    call("Flatten", draw(2, 3, 4)),
    call("Flatten", draw(2, 3, 4, 5), start_dim=-3, end_dim=2),
]
