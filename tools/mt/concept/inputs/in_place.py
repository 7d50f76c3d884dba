"""`relu` of `3 x + 1`, where the 1 is added in place."""

from typing import Any

from mt.concept.gradients import of_tensors

X = [-1.0, 0.5, 2.0]


def tensor() -> tuple[Any, Any]:
    return of_tensors(lambda x: (x * 3.0).add_(1.0).relu(), X)


def changed_too_late() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = x.exp()
    out.mul_(2.0)
    out.sum().backward()
    return out, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn

    return of_tensors(lambda x: nn.ReLU(inplace=True)((x * 3.0).add_(1.0)), X)


def reference() -> tuple[Any, Any]:
    moved = [3.0 * x + 1.0 for x in X]
    return [max(0.0, y) for y in moved], [3.0 * (y > 0.0) for y in moved]
