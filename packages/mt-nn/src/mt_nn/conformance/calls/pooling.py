"""Calls of pooling, adaptive pooling and unpooling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def _both(name: str, dims: int, x: Array, **settings: Any) -> Any:
    """Yield the rows of a layer and of its function."""
    function = {
        "MaxPool": "max_pool", "AvgPool": "avg_pool", "LPPool": "lp_pool",
        "AdaptiveAvgPool": "adaptive_avg_pool", "AdaptiveMaxPool": "adaptive_max_pool",
    }[name]  # fmt: skip
    for called in (f"{name}{dims}d", f"functional.{function}{dims}d"):
        yield call(called, x, **settings)


def _unpooling(dims: int, shape: tuple[int, ...], size: int, **settings: Any) -> Any:
    """Yield the rows of a layer and of its function, with distinct indices."""
    x = draw(*shape)
    planes, each_plane = math.prod(shape[:-dims]), math.prod(shape[-dims:])
    orders = np.random.default_rng(3).random((planes, size)).argsort(1)
    indices = orders[:, :each_plane].reshape(shape)
    options = {"output_size": settings.pop("output_size")} if "output_size" in settings else {}
    name = f"MaxUnpool{dims}d"
    yield call(name, x, indices, options=options, **settings)
    name = f"functional.max_unpool{dims}d"
    yield call(name, x, indices, **settings, **options)


X1, X2, X3 = draw(2, 3, 9), draw(1, 2, 7, 6), draw(1, 2, 4, 3, 5)
WIDE = draw(2, 2, 8, 7)
POSITIVE = abs(X2) + 0.1

_MAX: list[tuple[int, Array, dict[str, Any]]] = [
    (2, WIDE, {"kernel_size": 2}),
    (2, WIDE, {"kernel_size": 3, "stride": 2, "padding": 1}),
    (2, X2, {"kernel_size": (2, 3), "stride": (3, 1)}),
    (2, X2[0], {"kernel_size": 3, "padding": 1, "return_indices": True}),
    (2, X2, {"kernel_size": (2, 3), "dilation": (3, 2), "padding": 1, "stride": 1}),
    (2, X2, {"kernel_size": 3, "stride": 2, "ceil_mode": True, "padding": 1}),
    (2, X2, {"kernel_size": 2, "stride": (3, 4), "ceil_mode": True}),
    (2, X2, {"kernel_size": 2, "stride": 3, "ceil_mode": True, "return_indices": True}),
    (1, X1, {"kernel_size": 3}),
    (1, X1, {"kernel_size": 10, "stride": 2, "ceil_mode": True}),
    (1, X1[0], {"kernel_size": 2, "stride": 3, "padding": 1, "ceil_mode": True}),
    (1, X1, {"kernel_size": 3, "dilation": 2, "padding": 1, "stride": 1, "return_indices": True}),
    (3, X3, {"kernel_size": 2}),
    (3, X3[0], {"kernel_size": (2, 3, 1), "stride": 2, "padding": (1, 0, 0), "ceil_mode": True}),
    (3, X3, {"kernel_size": 2, "stride": 1, "dilation": (2, 1, 3), "return_indices": True}),
]

_AVG: list[tuple[int, Array, dict[str, Any]]] = [
    (2, WIDE, {"kernel_size": 2}),
    (2, WIDE, {"kernel_size": 3, "stride": 2, "padding": 1}),
    (2, X2[0], {"kernel_size": (2, 3), "stride": (3, 1), "padding": (1, 0)}),
    (2, X2, {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}),
    (2, X2, {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
    (2, X2, {"kernel_size": 2, "stride": 3, "ceil_mode": True, "count_include_pad": False}),
    (2, X2, {"kernel_size": 2, "stride": 3, "ceil_mode": True, "divisor_override": -3}),
    (1, X1, {"kernel_size": 2}),
    (1, X1[0], {"kernel_size": 4, "stride": 3, "padding": 2, "ceil_mode": True}),
    (1, X1, {"kernel_size": (3,), "stride": 1, "padding": 1, "count_include_pad": False}),
    (3, X3, {"kernel_size": 2}),
    (3, X3[0], {"kernel_size": (2, 3, 2), "stride": 2, "padding": 1, "ceil_mode": True}),
    (3, X3, {"kernel_size": 2, "padding": 1, "count_include_pad": False}),
    (3, X3, {"kernel_size": 2, "divisor_override": 5}),
]

_ADAPTIVE: list[tuple[int, Array, dict[str, Any]]] = [
    (2, X2, {"output_size": 1}),
    (2, X2, {"output_size": (7, 3)}),
    (2, X2[0], {"output_size": (3, 4)}),
    (2, X2, {"output_size": (None, 8)}),
    (1, X1, {"output_size": 3}),
    (1, X1[0], {"output_size": 4}),
    (3, X3, {"output_size": (2, 3, 1)}),
    (3, X3, {"output_size": (3, None, 2)}),
]

_LP: list[tuple[int, Array, dict[str, Any]]] = [
    (2, X2, {"norm_type": 2, "kernel_size": 2}),
    (2, POSITIVE, {"norm_type": 1.5, "kernel_size": (2, 3), "stride": 2, "ceil_mode": True}),
    (2, X2, {"norm_type": float("inf"), "kernel_size": 2}),
    (2, X2[0], {"norm_type": -float("inf"), "kernel_size": 3}),
    (1, abs(X1), {"norm_type": 3, "kernel_size": 2, "stride": 3}),
    (3, X3, {"norm_type": 2.0, "kernel_size": 2}),
]


_FRACTIONS = [
    call(
        name, draw(*shape), kernel_size=kernel_size, output_size=output_size,
        constants={
            "_random_samples": np.random.default_rng(0).random((*shape[:2], len(shape) - 2))})
    for name, shape, kernel_size, output_size in [
        ("FractionalMaxPool2d", (2, 3, 9, 7), (2, 3), (4, 3)),
        ("functional.fractional_max_pool2d", (2, 3, 9, 7), (2, 3), (4, 3)),
        ("FractionalMaxPool3d", (1, 2, 5, 6, 7), 2, (3, 2, 4)),
        ("functional.fractional_max_pool3d", (1, 2, 5, 6, 7), 2, (3, 2, 4)),
    ]
]  # fmt: skip

CALLS = [
    row
    for name, rows in (
        ("MaxPool", _MAX),
        ("AvgPool", _AVG),
        ("AdaptiveAvgPool", _ADAPTIVE),
        ("AdaptiveMaxPool", _ADAPTIVE),
        (
            "AdaptiveMaxPool",
            [(d, x, {**settings, "return_indices": True}) for d, x, settings in _ADAPTIVE[2:6]],
        ),
        ("LPPool", _LP),
    )
    for dims, x, settings in rows
    for row in _both(name, dims, x, **settings)
]
CALLS += [
    *_unpooling(2, (2, 2, 2, 3), 24, kernel_size=2),
    *_unpooling(2, (2, 2, 3), 20, kernel_size=2, output_size=(5, 7)),
    *_unpooling(
        2, (1, 2, 3, 2), 15, kernel_size=3, stride=2, padding=(1, 0), output_size=(1, 2, 5, 5)
    ),
    *_unpooling(1, (2, 3, 4), 8, kernel_size=2),
    *_unpooling(1, (3, 4), 8, kernel_size=3, stride=2, padding=1, output_size=(8,)),
    *_unpooling(3, (1, 2, 2, 1, 2), 32, kernel_size=2),
    *_FRACTIONS,
]
