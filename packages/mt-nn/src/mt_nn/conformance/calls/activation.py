"""Activations."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Call, Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array

X = 2 * draw(3, 4)


def sigmoid(x: Array) -> Array:
    """Return `1 / (1 + exp(-x))`."""
    found: Array = 1 / (1 + np.exp(-x))
    return found


def _clipped(x: Array, min_val: float = -1.0, max_val: float = 1.0, **_: Any) -> Array:
    return np.clip(x, min_val, max_val)


def _elu(x: Array, alpha: float = 1.0, **_: Any) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(x))


def _celu(x: Array, alpha: float = 1.0, **_: Any) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(x / alpha))


def _leaky(x: Array, negative_slope: float = 0.01, **_: Any) -> Array:
    return np.where(x > 0, x, negative_slope * x)


def _selu(x: Array, **_: Any) -> Any:
    return 1.0507009873554805 * _elu(x, 1.6732632423543772)


def _softplus(x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    return np.where(beta * x > threshold, x, np.log1p(np.exp(beta * x)) / beta)


def _gelu(x: Array, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def _rrelu(x: Array, lower: float = 1 / 8, upper: float = 1 / 3, **_: Any) -> Array:
    return _leaky(x, (lower + upper) / 2)


def _prelu(x: Array, weight: Array, **_: Any) -> Array:
    slopes = weight.reshape(-1, *(1,) * (x.ndim - 2)) if x.ndim > 1 else weight
    return np.where(x > 0, x, slopes * x)


def _glu(x: Array, dim: int = -1) -> Array:
    first, second = np.split(x, 2, dim)
    return first * sigmoid(second)


def softmax(x: Array, dim: int) -> Array:
    """Return exponentials that add up to 1."""
    weights = np.exp(x - x.max(dim, keepdims=True))
    found: Array = weights / weights.sum(dim, keepdims=True)
    return found


def log_softmax(x: Array, dim: int = -1) -> Array:
    """Return their logarithms."""
    return np.log(softmax(x, dim))


Settings = tuple[dict[str, Any], ...]

_BOTH: list[tuple[str, str, Callable[..., Any], Settings]] = [
    ("CELU", "celu", _celu, ({}, {"alpha": 0.25}, {"alpha": -2.0})),
    ("ELU", "elu", _elu, ({}, {"alpha": 0.3})),
    ("GELU", "gelu", _gelu, ({}, {"approximate": "tanh"})),
    ("Hardshrink", "hardshrink", lambda x, lambd=0.5: x * (abs(x) > lambd), ({}, {"lambd": 1.0})),
    ("Hardsigmoid", "hardsigmoid", lambda x, **_: np.clip(x / 6 + 0.5, 0, 1), ({},)),
    ("Hardswish", "hardswish", lambda x, **_: x * np.clip(x / 6 + 0.5, 0, 1), ({},)),
    ("Hardtanh", "hardtanh", _clipped, ({}, {"min_val": -0.2, "max_val": 2.5})),
    ("LeakyReLU", "leaky_relu", _leaky, ({}, {"negative_slope": 0.3})),
    ("LogSigmoid", "logsigmoid", lambda x: np.log(sigmoid(x)), ({},)),
    ("Mish", "mish", lambda x, **_: x * np.tanh(np.log1p(np.exp(x))), ({},)),
    ("ReLU", "relu", lambda x, **_: np.maximum(x, 0), ({}, {"inplace": False})),
    ("ReLU6", "relu6", lambda x, **_: np.clip(x, 0, 6), ({},)),
    ("SELU", "selu", _selu, ({},)),
    ("SiLU", "silu", lambda x, **_: x * sigmoid(x), ({},)),
    ("Sigmoid", "sigmoid", sigmoid, ({},)),
    ("Softplus", "softplus", _softplus, ({}, {"beta": 2.0, "threshold": 1.0})),
    (
        "Softshrink",
        "softshrink",
        lambda x, lambd=0.5: np.sign(x) * np.maximum(abs(x) - lambd, 0),
        ({}, {"lambd": 0.0}),
    ),
    ("Softsign", "softsign", lambda x: x / (1 + abs(x)), ({},)),
    ("Tanh", "tanh", np.tanh, ({},)),
    ("Tanhshrink", "tanhshrink", lambda x: x - np.tanh(x), ({},)),
    (
        "Threshold",
        "threshold",
        lambda x, threshold, value, **_: np.where(x > threshold, x, value),
        ({"threshold": 0.1, "value": -3.0},),
    ),
    ("GLU", "glu", _glu, ({}, {"dim": -1})),
    ("LogSoftmax", "log_softmax", log_softmax, ({"dim": 1},)),
    ("Softmax", "softmax", softmax, ({"dim": 1}, {"dim": -2})),
    ("Softmin", "softmin", lambda x, dim: softmax(-x, dim), ({"dim": 0},)),
]

CALLS: list[Call] = [
    *(
        call(name, X, oracle=oracle, **told)
        for layer, function, oracle, settings in _BOTH
        for name in (layer, f"functional.{function}")
        for told in settings
    ),
    call("PReLU", draw(2, 3, 4), oracle=_prelu),
    call("PReLU", draw(2, 3, 4), num_parameters=3, init=0.1, oracle=_prelu),
    call("PReLU", draw(4), oracle=_prelu),
    call("functional.prelu", draw(2, 3), draw(3, seed=1), oracle=_prelu),
    call("Softmax2d", draw(2, 3, 2, 2), oracle=lambda x: softmax(x, -3)),
    call("Softmax2d", draw(3, 2, 2), oracle=lambda x: softmax(x, -3)),
    call("GLU", draw(4, 3), dim=0, oracle=_glu),
    *(
        call("RReLU", X, in_training=False, oracle=_rrelu, lower=lower, upper=upper)
        for lower, upper in ((1 / 8, 1 / 3), (0.1, 0.9))
    ),
    call("RReLU", X, lower=0.25, upper=0.25, oracle=_rrelu),
    call("functional.rrelu", X, oracle=_rrelu),
    call("functional.rrelu", X, lower=0.2, upper=0.2, training=True, oracle=_rrelu),
    call("ReLU", draw(0, 3)),
    call("GELU", np.array(0.5, np.float32), oracle=_gelu),
]

REFUSED: list[Refused] = [
    refused("GLU", draw(3), says="even extent"),
    refused("PReLU", draw(2, 3), num_parameters=2, says="one for each of 3 channel"),
    refused("Softmax", X, dim=2, says="dimension"),
    refused("Softmax2d", X, says="takes images"),
    refused("Softshrink", X, lambd=-1.0, says="at least 0"),
    refused("GELU", X, approximate="tan", says="'tan' was given"),
    refused("Hardtanh", min_val=1.0, max_val=0.0, says="must be below"),
    refused("CELU", X, alpha=0.0, says="must not be 0"),
    refused("functional.rrelu", X, lower=0.5, upper=0.2, training=True, says="lower must be"),
    refused("functional.rrelu", X, lower=0.5, upper=np.inf, training=True, says="both finite"),
    refused("functional.gumbel_softmax", np.array([1, 2]), says="floating-point"),
]
