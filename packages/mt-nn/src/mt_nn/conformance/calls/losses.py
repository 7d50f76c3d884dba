"""Losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.dtypes import Array


def reduced(losses: Array, reduction: str = "mean", **_: Any) -> Any:
    """Return losses put together."""
    folds: dict[str, Any] = {"mean": np.mean, "sum": np.sum, "none": np.asarray}
    return folds[reduction](losses)


def _squared(x: Array, y: Array, **settings: Any) -> Any:
    return reduced((x - y) ** 2, **settings)


def _nll(x: Array, target: Array, **settings: Any) -> Any:
    chosen = np.take_along_axis(x, np.expand_dims(target, 1), 1).squeeze(1)
    return reduced(-chosen, **settings)


def _cross_entropy(x: Array, target: Array, **settings: Any) -> Any:
    shifted = x - x.max(1, keepdims=True)
    return _nll(shifted - np.log(np.exp(shifted).sum(1, keepdims=True)), target, **settings)


REDUCTIONS = ("mean", "sum", "none")
CLASSES = np.array([0, 3, 2, 3])

CALLS = [
    *(
        call(name, draw(*shape), classes, reduction=reduction, oracle=_cross_entropy)
        for name in ("CrossEntropyLoss", "functional.cross_entropy")
        for shape, classes in (((4, 5), CLASSES), ((4, 5, 2), np.stack([CLASSES, CLASSES], 1)))
        for reduction in REDUCTIONS
    ),
    *(
        call("functional.nll_loss", draw(4, 5), CLASSES, reduction=reduction, oracle=_nll)
        for reduction in REDUCTIONS
    ),
    call("functional.mse_loss", draw(3, 4), draw(3, 4, seed=1), oracle=_squared),
    *(
        call("MSELoss", draw(3, 4), draw(3, 4, seed=1), reduction=reduction, oracle=_squared)
        for reduction in REDUCTIONS
    ),
]

REFUSED: list[Refused] = [
    refused("functional.mse_loss", draw(3), draw(3), reduction="maen", says="got 'maen'"),
]
