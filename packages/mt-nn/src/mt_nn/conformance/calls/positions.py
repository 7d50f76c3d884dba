"""Positions."""

from __future__ import annotations

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw

X = draw(2, 3, 4)

CALLS = [
    call("SinusoidalPositions", X, features=4),
    call("SinusoidalPositions", X, features=4, base=10.0, dim=0),
    call("SinusoidalPositions", draw(3, 2), features=2, options={"offset": 5}),
    call("RotaryPositions", X, features=4),
    call("RotaryPositions", X, features=4, base=10.0, dim=0),
    call("RotaryPositions", draw(1, 2, 3, 2), features=2, options={"offset": 7}),
    call("LearnedPositions", X, max_steps=3, features=4),
    call("LearnedPositions", X, max_steps=5, features=4, options={"offset": 1}),
    call("LearnedPositions", X, max_steps=5, features=4, dim=0),
]

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
