"""Linear maps."""

from __future__ import annotations

from typing import Any

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.dtypes import Array


def _linear(x: Array, weight: Array, bias: Array | float = 0.0, **_: Any) -> Array:
    return x @ weight.T + bias


CALLS = [
    call("Linear", draw(5, 3), in_features=3, out_features=2, oracle=_linear),
    call("Linear", draw(2, 4, 3), in_features=3, out_features=1, bias=False, oracle=_linear),
    call("Linear", draw(3), in_features=3, out_features=2, oracle=_linear),
    call("functional.linear", draw(5, 3), draw(2, 3, seed=1), oracle=_linear),
    call("functional.linear", draw(0, 3), draw(2, 3), draw(2), oracle=_linear),
    call("Flatten", draw(2, 3, 4), oracle=lambda x: x.reshape(2, 12)),
    call(
        "Flatten", draw(2, 3, 4, 5), start_dim=-3, end_dim=2,
        oracle=lambda x, **_: x.reshape(2, 12, 5),
    ),
]  # fmt: skip

REFUSED: list[Refused] = [
    refused("Linear", draw(5, 4), in_features=3, out_features=2, says="expects 3 inputs"),
    refused("functional.linear", draw(5, 3), draw(2, 4), says="expects 4 inputs"),
]
