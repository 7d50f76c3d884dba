"""The hyperbolic tangent of five numbers, and its slope at each."""

from typing import Any

X = [-2.0, -0.5, 0.0, 0.5, 2.0]


def operators() -> tuple[Any, Any]:
    from mt_operators import OPERATORS

    row = OPERATORS["tanh"]
    values = [row.function(x) for x in X]
    return values, [row.partials[0](x, out) for x, out in zip(X, values, strict=True)]


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    scalars = [Scalar(x) for x in X]
    values = [scalar.tanh() for scalar in scalars]
    for value in values:
        value.backward()
    return [value.data for value in values], [scalar.grad for scalar in scalars]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = x.tanh()
    out.sum().backward()
    return out, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = nn.Tanh()(x)
    out.sum().backward()
    return out, x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    out = np.tanh(X)
    return out, 1.0 / np.cosh(X) ** 2
