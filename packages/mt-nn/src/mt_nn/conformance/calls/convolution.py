"""Convolutions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.dtypes import Array


def each(value: int | Sequence[int], count: int) -> tuple[int, ...]:
    """Return a setting for each of some dimensions, which may be given for all at once."""
    return (value,) * count if isinstance(value, int) else tuple(value)


def convolution(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    **_: Any,
) -> Array:
    """Return a convolution over any number of dimensions, window by window."""
    dims = weight.ndim - 2
    steps, margins, spreads = (each(value, dims) for value in (stride, padding, dilation))
    sizes = weight.shape[2:]
    x = np.pad(x, ((0, 0), (0, 0), *((margin, margin) for margin in margins)))
    counts = [
        (extent - spread * (size - 1) - 1) // step + 1
        for extent, size, step, spread in zip(x.shape[2:], sizes, steps, spreads, strict=True)
    ]
    out = np.zeros((len(x), len(weight), *counts))
    per_group, made = weight.shape[1], len(weight) // groups
    for place in itertools.product(*map(range, counts)):
        seen_from = [i * step for i, step in zip(place, steps, strict=True)]
        spans = zip(seen_from, spreads, sizes, strict=True)
        within: Any = (
            ...,
            *(slice(i, i + spread * (size - 1) + 1, spread) for i, spread, size in spans),
        )
        window = x[within]
        for output, kernel in enumerate(weight):
            first = output // made * per_group
            seen = window[:, first : first + per_group]
            to: Any = (slice(None), output, *place)
            out[to] = (seen * kernel).reshape(len(x), -1).sum(1)
    return out if bias is None else out + bias.reshape(-1, *[1] * dims)


X = draw(2, 4, 7, 6)

CALLS = [
    *(
        call("Conv2d", X, in_channels=4, out_channels=6, oracle=convolution, **settings)
        for settings in (
            {"kernel_size": 3},
            {"kernel_size": (2, 3), "stride": (2, 1), "padding": (1, 2), "bias": False},
            {"kernel_size": 2, "dilation": (2, 3), "groups": 2},
        )
    ),
    call(
        "functional.conv2d", X, draw(4, 1, 3, 3), draw(4), padding=1, groups=4, oracle=convolution
    ),
    call("functional.conv1d", draw(2, 3, 9), draw(2, 3, 4), stride=2, oracle=convolution),
]

REFUSED: list[Refused] = [
    refused("functional.conv2d", X, draw(2, 3, 3, 3), says="expects 3 channels"),
    refused("functional.conv2d", X, draw(2, 4, 9, 3), says="window of 9"),
    refused("Conv2d", X, in_channels=3, out_channels=2, kernel_size=1, says="expects 3 channels"),
    refused("Conv2d", in_channels=3, out_channels=2, kernel_size=1, groups=2, says="multiples"),
]
