"""Positions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def _sinusoidal(
    x: Array, *, base: float = 10000.0, dim: int = -2, offset: int = 0, **_: Any
) -> Any:
    found = x.copy()
    for index in np.ndindex(x.shape):
        place, feature = index[dim] + offset, index[-1]
        angle = place / base ** (feature // 2 * 2 / x.shape[-1])
        found[index] += math.cos(angle) if feature % 2 else math.sin(angle)
    return found


def _rotary(x: Array, *, base: float = 10000.0, dim: int = -2, offset: int = 0, **_: Any) -> Any:
    found = x.copy()
    for index in np.ndindex(x.shape[:-1]):
        place = (*index, 0)[dim] + offset
        for i in range(0, x.shape[-1], 2):
            turn = np.exp(1j * place / base ** (i / x.shape[-1]))
            point = complex(*x[index][i : i + 2]) * turn
            found[index][i : i + 2] = point.real, point.imag
    return found


def _learned(x: Array, weight: Array, offset: int = 0, **_: Any) -> Any:
    return x + weight[offset : offset + x.shape[-2]]


X = draw(2, 3, 4)

CALLS = [
    call("SinusoidalPositions", X, features=4, oracle=_sinusoidal),
    call("SinusoidalPositions", X, features=4, base=10.0, dim=0, oracle=_sinusoidal),
    call("SinusoidalPositions", draw(3, 2), features=2, options={"offset": 5}, oracle=_sinusoidal),
    call("RotaryPositions", X, features=4, oracle=_rotary),
    call("RotaryPositions", X, features=4, base=10.0, dim=0, oracle=_rotary),
    call("RotaryPositions", draw(1, 2, 3, 2), features=2, options={"offset": 7}, oracle=_rotary),
    call("LearnedPositions", X, max_steps=3, features=4, oracle=_learned),
    call(
        "LearnedPositions", X, max_steps=5, features=4, options={"offset": 1}, oracle=_learned
    ),
    call(
        "LearnedPositions", X, max_steps=5, features=4, dim=0,
        oracle=lambda x, weight, **_: x + weight[:2, None],
    ),
]  # fmt: skip

REFUSED: list[Refused] = [
    refused("SinusoidalPositions", says="even", features=3),
    refused("RotaryPositions", says="even", features=5),
    refused("RotaryPositions", says="base", features=4, base=-1.0),
    refused("RotaryPositions", draw(3, 2), says="with 4 features", features=4),
    refused("SinusoidalPositions", draw(4), says="steps in dimension -2", features=4),
    refused("SinusoidalPositions", draw(3, 4), says="dimension 1", features=4, dim=1),
    refused("RotaryPositions", np.ones((3, 4), np.int64), says="int64", features=4),
    refused("LearnedPositions", draw(3, 4), says="max_steps=2", max_steps=2, features=4),
    refused("LearnedPositions", says="max_steps", max_steps=0, features=4),
]
