"""A state of two numbers reads three inputs; the gradient is that of the sum of the last state."""

from typing import Any

from mt.concept.gradients import of_tensors

INPUTS = [[[1.0]], [[-0.5]], [[2.0]]]  # (time, batch, feature)
BY_INPUT = [[0.5], [-1.0]]
BY_STATE = [[0.25, 1.0], [-0.5, 0.75]]


def last(states: Any) -> Any:
    return states[-1]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    by_input, by_state = mt.tensor(BY_INPUT), mt.tensor(BY_STATE)

    def states(inputs: Any) -> Any:
        states = [mt.zeros(1, 2)]
        for each in inputs:
            states.append((each @ by_input.T + states[-1] @ by_state.T).tanh())
        return mt.stack(states[1:])

    return of_tensors(states, INPUTS, loss=last)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    layer = nn.RNN(1, 2, bias=False)
    with mt.no_grad():
        layer.get_parameter("weight_ih_l0").copy_(mt.tensor(BY_INPUT))
        layer.get_parameter("weight_hh_l0").copy_(mt.tensor(BY_STATE))
    return of_tensors(lambda inputs: layer(inputs)[0], INPUTS, loss=last)


fast = nn


def reference() -> tuple[Any, Any]:
    import numpy as np

    by_input, by_state = np.array(BY_INPUT), np.array(BY_STATE)
    states = [np.zeros((1, 2))]
    for each in INPUTS:
        states.append(np.tanh(np.array(each) @ by_input.T + states[-1] @ by_state.T))
    upstream, slopes = np.ones((1, 2)), []
    for state in reversed(states[1:]):
        inner = upstream * (1.0 - state**2)
        slopes.append(inner @ by_input)
        upstream = inner @ by_state
    return states[1:], slopes[::-1]
