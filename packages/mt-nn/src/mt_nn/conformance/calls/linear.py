"""Linear maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def _linear(x: Array, weight: Array, bias: Array | float = 0.0, **_: Any) -> Array:
    return x @ weight.T + bias


def _bilinear(x: Array, y: Array, weight: Array, bias: Array | float = 0.0, **_: Any) -> Array:
    found: Array = np.einsum("...i,oij,...j->...o", x, weight, y) + bias
    return found


_SIZES: dict[str, Any] = {"in1_features": 3, "in2_features": 2, "out_features": 4}

CALLS = [
    call("Linear", draw(5, 3), in_features=3, out_features=2, oracle=_linear),
    call("Linear", draw(2, 4, 3), in_features=3, out_features=1, bias=False, oracle=_linear),
    call("Linear", draw(3), in_features=3, out_features=2, oracle=_linear),
    call("functional.linear", draw(5, 3), draw(2, 3, seed=1), oracle=_linear),
    call("functional.linear", draw(0, 3), draw(2, 3), draw(2), oracle=_linear),
    call("Bilinear", draw(5, 3), draw(5, 2), oracle=_bilinear, **_SIZES),
    call("Bilinear", draw(2, 1, 3), draw(2, 1, 2), bias=False, oracle=_bilinear, **_SIZES),
    call("functional.bilinear", draw(3), draw(2), draw(4, 3, 2), draw(4), oracle=_bilinear),
    call("functional.bilinear", draw(0, 3), draw(0, 2), draw(4, 3, 2), oracle=_bilinear),
    call("Identity", draw(2, 3), oracle=lambda x: x),
    call(
        "Unflatten", draw(2, 6, 2), dim=1, unflattened_size=(3, -1),
        oracle=lambda x, **_: x.reshape(2, 3, 2, 2),
    ),
    call("Flatten", draw(2, 3, 4), oracle=lambda x: x.reshape(2, 12)),
    call(
        "Flatten", draw(2, 3, 4, 5), start_dim=-3, end_dim=2,
        oracle=lambda x, **_: x.reshape(2, 12, 5),
    ),
]  # fmt: skip

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
