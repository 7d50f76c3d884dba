"""Calls of unfolding and folding of images."""

from __future__ import annotations

from typing import Any

from mt_nn.conformance.calls.call import call
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array

X = draw(2, 1, 5, 6)
_SETTINGS: list[tuple[Array, tuple[int, ...], dict[str, Any]]] = [
    (X, (2, 4, 20), {"kernel_size": 2}),
    (X, (2, 6, 12), {"kernel_size": (2, 3), "stride": (2, 1), "padding": (1, 0)}),
    (X[0], (9, 6), {"kernel_size": 3, "dilation": (1, 2), "padding": 1, "stride": 2}),
]

CALLS = [
    row
    for x, shape, settings in _SETTINGS
    for columns in (draw(*shape, seed=2),)
    for row in (
        call("Unfold", x, **settings),
        call("functional.unfold", x, **settings),
        call("Fold", columns, output_size=(5, 6), **settings),
        call("functional.fold", columns, output_size=(5, 6), **settings),
    )
]
CALLS.append(call("functional.fold", draw(1, 4, 9), output_size=4, kernel_size=2))
