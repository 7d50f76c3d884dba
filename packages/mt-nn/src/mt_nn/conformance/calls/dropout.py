"""Calls of dropout with settings for which the result is not random."""

from __future__ import annotations

from mt_nn.conformance.calls.call import Call, call
from mt_nn.conformance.drawing import draw

SHAPES = {
    ("AlphaDropout", "functional.alpha_dropout"): (3, 4),
    ("Dropout", "functional.dropout"): (3, 4),
    ("Dropout1d", "functional.dropout1d"): (2, 3, 4),
    ("Dropout2d", "functional.dropout2d"): (2, 3, 2, 2),
    ("Dropout3d", "functional.dropout3d"): (2, 3, 2, 1, 2),
    ("FeatureAlphaDropout", "functional.feature_alpha_dropout"): (2, 3, 4),
}
"""The shape of an input, by the names of a layer and of its function."""


CALLS: list[Call] = [
    row
    for (layer, function), shape in SHAPES.items()
    for p in (0.0, 0.3, 1.0)
    for row in (
        call(layer, draw(*shape), p=p, in_training=p != 0.3),
        call(function, draw(*shape), p=p, training=p != 0.3),
    )
]
