"""Four numbers are mapped by `exp`."""

from typing import Any

X = [-2.0, -0.5, 0.0, 1.25]


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    return list(operators.map(operators.exp)(X)), None


def _exp(scalar: Any) -> Any:
    return scalar.exp()


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar
    from mt_operators import operators

    scalars = [Scalar(x) for x in X]
    values = list(operators.map(_exp)(scalars))
    for value in values:
        value.backward()
    return values, [scalar.grad for scalar in scalars]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = x.exp()
    out.sum().backward()
    return out, x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    return np.exp(X), np.exp(X)
