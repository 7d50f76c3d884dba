"""`relu` of `3 x + 1`, where the 1 is added in place."""

from typing import Any

X = [-1.0, 0.5, 2.0]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    y = x * 3.0
    y.add_(1.0)
    out = y.relu()
    out.sum().backward()
    return out, x.grad


def changed_too_late() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = x.exp()
    out.mul_(2.0)
    out.sum().backward()
    return out, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    y = x * 3.0
    y.add_(1.0)
    out = nn.ReLU(inplace=True)(y)
    out.sum().backward()
    return out, x.grad


def reference() -> tuple[Any, Any]:
    moved = [3.0 * x + 1.0 for x in X]
    return [max(0.0, y) for y in moved], [3.0 * (y > 0.0) for y in moved]
