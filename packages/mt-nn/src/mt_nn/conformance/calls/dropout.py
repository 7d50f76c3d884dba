"""Dropout, as far as nothing is left to chance."""

from __future__ import annotations

import numpy as np

from mt_nn.conformance.calls.call import Call, Refused, call, refused
from mt_nn.conformance.drawing import draw

_SHAPES = {
    "AlphaDropout": (3, 4),
    "DropPath": (3, 4),
    "Dropout": (3, 4),
    "Dropout1d": (2, 3, 4),
    "Dropout2d": (2, 3, 2, 2),
    "Dropout3d": (2, 3, 2, 1, 2),
    "FeatureAlphaDropout": (2, 3, 4),
}

_FUNCTIONS = {
    "AlphaDropout": "functional.alpha_dropout",
    "DropPath": "functional.drop_path",
    "Dropout": "functional.dropout",
    "Dropout1d": "functional.dropout1d",
    "Dropout2d": "functional.dropout2d",
    "Dropout3d": "functional.dropout3d",
    "FeatureAlphaDropout": "functional.feature_alpha_dropout",
}

CALLS: list[Call] = [
    *(
        call(layer, draw(*shape), p=p, in_training=p != 0.3, oracle=lambda x, p: x * (p < 1))
        for layer, shape in _SHAPES.items()
        for p in (0.0, 0.3, 1.0)
    ),
    *(
        call(
            _FUNCTIONS[layer],
            draw(*shape),
            p=p,
            training=p != 0.3,
            oracle=lambda x, p, training: x * (p < 1 or not training),
        )
        for layer, shape in _SHAPES.items()
        for p in (0.0, 0.3, 1.0)
    ),
]

REFUSED: list[Refused] = [
    *(refused(layer, p=1.5, says="between 0 and 1") for layer in _SHAPES),
    *(
        refused(name, draw(*_SHAPES[layer]), p=-0.1, says="between 0 and 1")
        for layer, name in _FUNCTIONS.items()
    ),
    refused("functional.dropout", np.arange(3), says="needs floating-point"),
    refused("functional.dropout1d", draw(3), says="takes 2 or 3 dimensions"),
    refused("functional.dropout2d", draw(3, 4), says="takes 3 or 4 dimensions"),
    refused("functional.dropout3d", draw(3, 4), says="takes 4 or 5 dimensions"),
    refused("functional.drop_path", draw(), says="a number was given"),
    refused("functional.feature_alpha_dropout", draw(3), training=True, says="channels"),
]
