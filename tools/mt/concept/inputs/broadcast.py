"""Three numbers are added to each row of a table, and all is squared; the gradient is theirs."""

from typing import Any

X = [[1.0, -2.0, 3.0], [0.5, 1.5, -1.0]]
B = [0.25, 0.5, -0.75]


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    bias = [Scalar(b) for b in B]
    rows = [[(x + b).square() for x, b in zip(row, bias, strict=True)] for row in X]
    sum((value for row in rows for value in row), Scalar(0.0)).backward()
    return rows, [b.grad for b in bias]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    bias = mt.tensor(B, requires_grad=True)
    out = (mt.tensor(X) + bias).square()
    out.sum().backward()
    return out, bias.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    bias = mt.tensor(B, requires_grad=True)
    out = nn.functional.linear(mt.tensor(X), mt.eye(3), bias).square()
    out.sum().backward()
    return out, bias.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    moved = np.add(X, B)
    return moved**2, (2.0 * moved).sum(0)
