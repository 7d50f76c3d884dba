"""Calls of activations."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Call, call
from mt_nn.conformance.drawing import draw

X = 2 * draw(3, 4)


_BOTH: list[tuple[str, str, tuple[dict[str, Any], ...]]] = [
    ("CELU", "celu", ({}, {"alpha": 0.25}, {"alpha": -2.0})),
    ("ELU", "elu", ({}, {"alpha": 0.3})),
    ("GELU", "gelu", ({}, {"approximate": "tanh"})),
    ("Hardshrink", "hardshrink", ({}, {"lambd": 1.0})),
    ("Hardsigmoid", "hardsigmoid", ({},)),
    ("Hardswish", "hardswish", ({},)),
    ("Hardtanh", "hardtanh", ({}, {"min_val": -0.2, "max_val": 2.5})),
    ("LeakyReLU", "leaky_relu", ({}, {"negative_slope": 0.3})),
    ("LogSigmoid", "logsigmoid", ({},)),
    ("Mish", "mish", ({},)),
    ("ReLU", "relu", ({}, {"inplace": False})),
    ("ReLU6", "relu6", ({},)),
    ("SELU", "selu", ({},)),
    ("SiLU", "silu", ({},)),
    ("Sigmoid", "sigmoid", ({},)),
    ("Softplus", "softplus", ({}, {"beta": 2.0, "threshold": 1.0})),
    ("Softshrink", "softshrink", ({}, {"lambd": 0.0})),
    ("Softsign", "softsign", ({},)),
    ("Tanh", "tanh", ({},)),
    ("Tanhshrink", "tanhshrink", ({},)),
    ("Threshold", "threshold", ({"threshold": 0.1, "value": -3.0},)),
    ("GLU", "glu", ({}, {"dim": -1})),
    ("LogSoftmax", "log_softmax", ({"dim": 1},)),
    ("Softmax", "softmax", ({"dim": 1}, {"dim": -2})),
    ("Softmin", "softmin", ({"dim": 0},)),
]

CALLS: list[Call] = [
    *(
        call(name, X, **settings)
        for layer, function, several in _BOTH
        for name in (layer, f"functional.{function}")
        for settings in several
    ),
    call("PReLU", draw(2, 3, 4)),
    call("PReLU", draw(2, 3, 4), num_parameters=3, init=0.1),
    call("PReLU", draw(4)),
    call("functional.prelu", draw(2, 3), draw(3, seed=1)),
    call("Softmax2d", draw(2, 3, 2, 2)),
    call("Softmax2d", draw(3, 2, 2)),
    call("GLU", draw(4, 3), dim=0),
    *(
        call("RReLU", X, in_training=False, lower=lower, upper=upper)
        for lower, upper in ((1 / 8, 1 / 3), (0.1, 0.9))
    ),
    call("RReLU", X, lower=0.25, upper=0.25),
    call("functional.rrelu", X),
    call("functional.rrelu", X, lower=0.2, upper=0.2, training=True),
    call("ReLU", draw(0, 3)),
    call("GELU", np.array(0.5, np.float32)),
]
