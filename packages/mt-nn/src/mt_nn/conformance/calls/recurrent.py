"""Calls of recurrent networks."""

from __future__ import annotations

from typing import Any

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw

STATES = {"RNN": 1, "GRU": 1, "LSTM": 2}
"""The number of states of each kind of network."""

X = draw(3, 2, 2)
SIZES: dict[str, Any] = {"input_size": 2, "hidden_size": 3}
DEEP: dict[str, Any] = {"num_layers": 2, "bidirectional": True}


def _states(count: int, *shape: int) -> Any:
    """Return initial states."""
    drawn = tuple(draw(*shape, seed=seed) for seed in range(1, count + 1))
    return drawn if count == 2 else drawn[0]


CALLS = [
    *(
        row
        for kind, count in STATES.items()
        for row in (
            call(kind, X, **SIZES),
            call(kind, X, _states(count, 1, 2, 3), bias=False, **SIZES),
            call(kind, X, _states(count, 4, 2, 3), **SIZES, **DEEP),
            call(kind, X, _states(count, 1, 3, 3), batch_first=True, **SIZES),
            call(kind, draw(3, 2), _states(count, 2, 3), num_layers=2, **SIZES),
            call(kind, draw(1, 1, 2), batch_first=True, bidirectional=True, **SIZES),
        )
    ),
    call("RNN", X, nonlinearity="relu", **SIZES),
    call("LSTM", X, proj_size=2, **SIZES, **DEEP),
    call("LSTM", X, (draw(1, 2, 1), draw(1, 2, 3)), proj_size=1, **SIZES),
    call("GRU", X, num_layers=2, dropout=0.5, in_training=False, **SIZES),
    *(call(kind, draw(3, 0, 2), **SIZES, **DEEP) for kind in STATES),
    *(
        row
        for kind, count in STATES.items()
        for row in (
            call(f"{kind}Cell", X[0], **SIZES),
            call(f"{kind}Cell", X[0], _states(count, 2, 3), bias=False, **SIZES),
            call(f"{kind}Cell", X[0, 0], _states(count, 3), **SIZES),
        )
    ),
    call("RNNCell", X[0], draw(2, 3), nonlinearity="relu", **SIZES),
]
