"""The hyperbolic tangent of five numbers, and its derivatives."""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

X = [-2.0, -0.5, 0.0, 0.5, 2.0]


def operators() -> tuple[Any, Any]:
    from mt_operators import OPERATORS

    row = OPERATORS["tanh"]
    values = [row.function(x) for x in X]
    return values, [row.partials[0](x, out) for x, out in zip(X, values, strict=True)]


def autodiff() -> tuple[Any, Any]:
    return of_scalars(lambda scalars: [x.tanh() for x in scalars], X)


def tensor() -> tuple[Any, Any]:
    return of_tensors(lambda x: x.tanh(), X)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn

    return of_tensors(nn.Tanh(), X)


def reference() -> tuple[Any, Any]:
    import numpy as np

    out = np.tanh(X)
    return out, 1.0 / np.cosh(X) ** 2
