"""The sum of six numbers, and how it changes with each of them."""

from typing import Any

X = [0.5, -1.25, 2.0, 3.5, -0.75, 4.0]


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    return operators.sum(X), None


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    scalars = [Scalar(x) for x in X]
    total = sum(scalars, Scalar(0.0))
    total.backward()
    return total.data, [scalar.grad for scalar in scalars]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    total = x.sum()
    total.backward()
    return total, x.grad


def reference() -> tuple[Any, Any]:
    return sum(X), [1.0] * len(X)
