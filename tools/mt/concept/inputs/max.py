"""The largest of each row of a table, no two of which are equal."""

from typing import Any

X = [[0.5, 3.0, -1.0, 2.0], [-4.0, -2.5, -0.5, -3.0]]


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    return [operators.reduce(operators.max, float("-inf"))(row) for row in X], None


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar
    from mt_operators import operators

    rows = [[Scalar(x) for x in row] for row in X]
    values = [operators.reduce(lambda x, y: x.maximum(y), row[0])(row[1:]) for row in rows]
    for value in values:
        value.backward()
    return values, [[x.grad or 0.0 for x in row] for row in rows]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    values, _ = x.max(1)
    values.sum().backward()
    return values, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    values = nn.functional.max_pool2d(x.view(2, 1, 1, 4), (1, 4)).flatten()
    values.sum().backward()
    return values, x.grad


def reference() -> tuple[Any, Any]:
    return [max(row) for row in X], [[float(x == max(row)) for x in row] for row in X]
