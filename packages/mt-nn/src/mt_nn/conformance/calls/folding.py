"""Windows as columns, and back."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.calls.convolution import each
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def _windows(height: int, width: int, kernel: Any, spread: Any, step: Any) -> Iterator[Any]:
    """Yield the index of each window of padded images."""
    spans = [s * (k - 1) + 1 for k, s in zip(kernel, spread, strict=True)]
    rows, columns = (
        range(0, extent - span + 1, by)
        for extent, span, by in zip((height, width), spans, step, strict=True)
    )
    for i, j in itertools.product(rows, columns):
        yield (..., slice(i, i + spans[0], spread[0]), slice(j, j + spans[1], spread[1]))


def unfolded(
    x: Array, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Array:
    """Return the windows of images as columns, one after the other."""
    kernel, spread, margin, step = (each(v, 2) for v in (kernel_size, dilation, padding, stride))
    x = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(m, m) for m in margin])
    every = [x[w] for w in _windows(x.shape[-2], x.shape[-1], kernel, spread, step)]
    return np.stack([window.reshape(*x.shape[:-3], -1) for window in every], -1)


def folded(
    x: Array,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Array:
    """Return images to which windows are added one after the other."""
    size, kernel, spread, margin, step = (
        each(v, 2) for v in (output_size, kernel_size, dilation, padding, stride)
    )
    high, wide = (extent + 2 * m for extent, m in zip(size, margin, strict=True))
    channels = x.shape[-2] // (kernel[0] * kernel[1])
    out = np.zeros((*x.shape[:-2], channels, high, wide))
    for number, window in enumerate(_windows(high, wide, kernel, spread, step)):
        out[window] += x[..., number].reshape(*x.shape[:-2], channels, *kernel)
    return out[..., margin[0] : high - margin[0], margin[1] : wide - margin[1]]


X = draw(2, 1, 5, 6)
_SETTINGS: list[tuple[Array, dict[str, Any]]] = [
    (X, {"kernel_size": 2}),
    (X, {"kernel_size": (2, 3), "stride": (2, 1), "padding": (1, 0)}),
    (X[0], {"kernel_size": 3, "dilation": (1, 2), "padding": 1, "stride": 2}),
]

CALLS = [
    row
    for x, settings in _SETTINGS
    for columns in (draw(*unfolded(x, **settings).shape, seed=2),)
    for row in (
        call("Unfold", x, oracle=unfolded, **settings),
        call("functional.unfold", x, oracle=unfolded, **settings),
        call("Fold", columns, output_size=(5, 6), oracle=folded, **settings),
        call("functional.fold", columns, output_size=(5, 6), oracle=folded, **settings),
    )
]
CALLS.append(call("functional.fold", draw(1, 4, 9), output_size=4, kernel_size=2, oracle=folded))

REFUSED: list[Refused] = [
    refused("functional.unfold", X, kernel_size=7, says="window of 7"),
    refused("functional.unfold", X[0, 0], kernel_size=2, says="images of shape"),
    refused("Unfold", X, kernel_size=2, stride=0, says="stride must be"),
    refused("functional.fold", draw(8, 8), (4, 4), 2, says="9 windows"),
    refused("functional.fold", draw(7, 9), (4, 4), 2, says="multiple of 4 elements"),
    refused("functional.fold", draw(4, 1), (2, 2), 3, says="window of 3"),
    refused("Fold", draw(8, 9), output_size=(4, 4, 4), kernel_size=2, says="output_size must be"),
    refused("Unfold", draw(2, 0, 4, 4), kernel_size=2, says="have no windows"),
    refused("Fold", draw(2, 0, 9), output_size=4, kernel_size=2, says="have no windows"),
]
