"""Pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.calls.convolution import each
from mt_nn.conformance.drawing import draw
from mt_tensor.dtypes import Array


def folded(x: Array, fold: Any, value: float, kernel_size: Any, stride: Any, padding: Any) -> Array:
    """Return images with each window folded by a function of NumPy's, padded with a value."""
    sizes, margins = each(kernel_size, 2), each(padding, 2)
    steps = sizes if stride is None else each(stride, 2)
    wide = np.pad(x, ((0, 0), (0, 0), *((m, m) for m in margins)), constant_values=value)
    windows = np.lib.stride_tricks.sliding_window_view(wide, sizes, (2, 3))
    found: Array = fold(windows[:, :, :: steps[0], :: steps[1]], axis=(-2, -1))
    return found


def largest(x: Array, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Array:
    """Return max pooling."""
    return folded(x, np.max, -np.inf, kernel_size, stride, padding)


def mean(x: Array, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Array:
    """Return mean pooling, in which padding counts."""
    return folded(x, np.mean, 0.0, kernel_size, stride, padding)


X = draw(2, 3, 8, 7)

_SETTINGS: list[dict[str, Any]] = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": (2, 3), "stride": (3, 1)},
]

CALLS = [
    call(name, X, oracle=oracle, **settings)
    for name, oracle in (
        ("MaxPool2d", largest),
        ("functional.max_pool2d", largest),
        ("AvgPool2d", mean),
        ("functional.avg_pool2d", mean),
    )
    for settings in _SETTINGS
]

REFUSED: list[Refused] = [
    refused("functional.max_pool2d", X, kernel_size=2, padding=2, says="at most half"),
]
