"""Recurrent networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_nn.conformance.calls.activation import sigmoid
from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array

States = tuple[Array, ...]
Step = Callable[[Array, Array, States], States]
"""From the products with the input, those with the first state, and all states, to the next."""


def _rnn(x: Array, h: Array, _: States) -> States:
    return (np.tanh(x + h),)


def _relu(x: Array, h: Array, _: States) -> States:
    return (np.maximum(x + h, 0),)


def _gru(x: Array, h: Array, states: States) -> States:
    (xr, xz, xn), (hr, hz, hn) = np.split(x, 3, -1), np.split(h, 3, -1)
    z = sigmoid(xz + hz)
    return ((1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * states[0],)


def _lstm(x: Array, h: Array, states: States) -> States:
    i, f, g, o = np.split(x + h, 4, -1)
    c = sigmoid(f) * states[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def _network(step: Step, count: int) -> Callable[..., Any]:
    """Return a network of many layers and directions whose steps are given, with `count` states."""

    def network(
        x: Array,
        hx: Any = None,
        *,
        hidden_size: int,
        num_layers: int = 1,
        batch_first: bool = False,
        bidirectional: bool = False,
        proj_size: int = 0,
        **given: Any,
    ) -> Any:
        ways = ("", "_reverse") if bidirectional else ("",)
        batched = x.ndim == 3
        x = x[:, None] if not batched else x.swapaxes(0, 1) if batch_first else x
        if hx is None:
            widths = (proj_size or hidden_size, hidden_size)[:count]
            first = [np.zeros((num_layers * len(ways), x.shape[1], width)) for width in widths]
        else:
            first = list(hx) if count == 2 else [hx]
            first = first if batched else [state[:, None] for state in first]
        last: list[States] = []
        for layer in range(num_layers):
            outputs = []
            for way in ways:
                weights = {
                    name: given.get(f"{name}_l{layer}{way}", 0.0)
                    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
                }
                states: States = tuple(state[len(last)] for state in first)
                shown = []
                for now in x[::-1] if way else x:
                    by_input = now @ weights["weight_ih"].T + weights["bias_ih"]
                    by_state = states[0] @ weights["weight_hh"].T + weights["bias_hh"]
                    states = step(by_input, by_state, states)
                    if proj_size:
                        states = states[0] @ weights["weight_hr"].T, states[1]
                    shown.append(states[0])
                outputs.append(np.stack(shown[::-1] if way else shown))
                last.append(states)
            x = np.concatenate(outputs, -1)
        finals = [np.stack(parts) for parts in zip(*last, strict=True)]
        if not batched:
            return x[:, 0], *[state[:, 0] for state in finals]
        return x.swapaxes(0, 1) if batch_first else x, *finals

    return network


def _cell(step: Step, count: int) -> Callable[..., Any]:
    """Return one step of a network with `count` states."""

    def cell(
        x: Array,
        hx: Any = None,
        *,
        weight_ih: Array,
        weight_hh: Array,
        bias_ih: Any = 0.0,
        bias_hh: Any = 0.0,
        hidden_size: int,
        **_: Any,
    ) -> Any:
        zero = np.zeros((*x.shape[:-1], hidden_size))
        states = (zero, zero) if hx is None else tuple(hx) if count == 2 else (hx,)
        return step(x @ weight_ih.T + bias_ih, states[0] @ weight_hh.T + bias_hh, states)

    return cell


KINDS: dict[str, tuple[Step, int]] = {"RNN": (_rnn, 1), "GRU": (_gru, 1), "LSTM": (_lstm, 2)}

X = draw(3, 2, 2)
SIZES: dict[str, Any] = {"input_size": 2, "hidden_size": 3}
DEEP: dict[str, Any] = {"num_layers": 2, "bidirectional": True}


def _states(count: int, *shape: int) -> Any:
    """Return first states."""
    drawn = tuple(draw(*shape, seed=seed) for seed in range(1, count + 1))
    return drawn if count == 2 else drawn[0]


CALLS = [
    *(
        row
        for kind, (step, count) in KINDS.items()
        for oracle in [_network(step, count)]
        for row in (
            call(kind, X, oracle=oracle, **SIZES),
            call(kind, X, _states(count, 1, 2, 3), bias=False, oracle=oracle, **SIZES),
            call(kind, X, _states(count, 4, 2, 3), oracle=oracle, **SIZES, **DEEP),
            call(kind, X, _states(count, 1, 3, 3), batch_first=True, oracle=oracle, **SIZES),
            call(kind, draw(3, 2), _states(count, 2, 3), oracle=oracle, num_layers=2, **SIZES),
            call(kind, draw(1, 1, 2), batch_first=True, oracle=oracle, bidirectional=True, **SIZES),
        )
    ),
    call("RNN", X, nonlinearity="relu", oracle=_network(_relu, 1), **SIZES),
    call("LSTM", X, proj_size=2, oracle=_network(_lstm, 2), **SIZES, **DEEP),
    call(
        "LSTM", X, (draw(1, 2, 1), draw(1, 2, 3)), proj_size=1, oracle=_network(_lstm, 2), **SIZES
    ),
    call("GRU", X, num_layers=2, dropout=0.5, in_training=False, **SIZES),
    *(
        call(kind, draw(3, 0, 2), oracle=_network(step, count), **SIZES, **DEEP)
        for kind, (step, count) in KINDS.items()
    ),
    *(
        row
        for kind, (step, count) in KINDS.items()
        for oracle in [_cell(step, count)]
        for row in (
            call(f"{kind}Cell", X[0], oracle=oracle, **SIZES),
            call(f"{kind}Cell", X[0], _states(count, 2, 3), bias=False, oracle=oracle, **SIZES),
            call(f"{kind}Cell", X[0, 0], _states(count, 3), oracle=oracle, **SIZES),
        )
    ),
    call("RNNCell", X[0], draw(2, 3), nonlinearity="relu", oracle=_cell(_relu, 1), **SIZES),
]

REFUSED: list[Refused] = [
    refused("GRU", draw(3, 2, 4), says="with 2 features", **SIZES),
    refused("LSTM", draw(2), says="takes sequences", **SIZES),
    refused("RNN", np.zeros((3, 2, 2), np.int64), says="int64 were given", **SIZES),
    refused("RNN", draw(0, 2, 2), says="at least one step", **SIZES),
    refused("RNN", X, draw(2, 2, 3), says="expects a state of shape", **SIZES),
    refused("GRU", X, draw(1, 3), says="expects a state of shape", **SIZES),
    refused("GRU", draw(3, 2), draw(1, 2, 3), says="expects a state of shape", **SIZES),
    refused("LSTM", X, draw(1, 2, 3), says="as a pair", **SIZES),
    refused("LSTM", X, (draw(1, 2, 3), draw(1, 1, 3)), says="expects a state", **SIZES),
    refused("LSTM", says="smaller than hidden_size", proj_size=3, **SIZES),
    refused("GRU", says="probability", num_layers=2, dropout=1.5, **SIZES),
    refused("GRU", says="num_layers", num_layers=0, **SIZES),
    refused("RNN", says="hidden_size", input_size=2, hidden_size=0),
    refused("RNN", says="'tanh' or 'relu'", nonlinearity="gelu", **SIZES),
    refused("RNNCell", X, says="takes an input", **SIZES),
    refused("RNNCell", X[0], draw(3, 3), says="expects a state", **SIZES),
    refused("GRUCell", draw(2, 3), says="takes an input", **SIZES),
    refused("LSTMCell", X[0], draw(2, 3), says="as a pair", **SIZES),
    refused("RNNCell", X[0], says="'tanh' or 'relu'", nonlinearity="sin", **SIZES),
    refused("GRU", input_size=2, hidden_size=3, bidirectional=2, says="True or False"),
]
