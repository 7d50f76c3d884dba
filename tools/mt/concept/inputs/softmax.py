"""The softmax of four numbers around 100, and the gradient of its last element."""

from typing import Any

X = [101.0, 99.5, 102.0, 100.25]


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    scalars = [Scalar(x) for x in X]
    powers = [scalar.exp() for scalar in scalars]
    total = sum(powers, Scalar(0.0))
    out = [power / total for power in powers]
    out[-1].backward()
    return out, [scalar.grad for scalar in scalars]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = x.softmax(0)
    out[-1].backward()
    return out, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = nn.Softmax(0)(x)
    out[-1].backward()
    return out, x.grad


def without_maximum() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    powers = x.exp()
    out = powers / powers.sum()
    out[-1].backward()
    return out, x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    out = np.exp(X) / np.exp(X).sum()
    return out, out[-1] * (np.arange(4) == 3) - out[-1] * out
