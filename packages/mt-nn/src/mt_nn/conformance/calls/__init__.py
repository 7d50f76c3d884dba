"""The tables of calls: every layer and function of networks, with all that they can be told.

A module is one subject. A new layer or function is entered in the table of its subject, in `CALLS`
if it works and in `REFUSED` if it must not.
"""

from mt_nn.conformance.calls import (
    activation,
    adaptive_softmax,
    attention,
    convolution,
    distance,
    dropout,
    embedding,
    folding,
    linear,
    losses,
    normalization,
    padding,
    pooling,
    positions,
    recurrent,
    resampling,
    transformer,
)
from mt_nn.conformance.calls.call import Call, Refused

_TABLES = (
    activation,
    adaptive_softmax,
    attention,
    convolution,
    distance,
    dropout,
    embedding,
    folding,
    linear,
    losses,
    normalization,
    padding,
    pooling,
    positions,
    recurrent,
    resampling,
    transformer,
)

CALLS: list[Call] = [row for table in _TABLES for row in table.CALLS]
REFUSED: list[Refused] = [row for table in _TABLES for row in table.REFUSED]

__all__ = ["CALLS", "REFUSED", "Call", "Refused"]
