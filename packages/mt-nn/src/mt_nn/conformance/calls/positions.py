"""Calls of position encodings."""

from __future__ import annotations

from mt_nn.conformance.calls.call import call
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
