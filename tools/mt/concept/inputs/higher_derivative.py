"""The first derivative of `sin` at three points as a value, and the second as its gradient."""

from typing import Any

X = [-1.5, 0.5, 2.0]


def operators() -> tuple[Any, Any]:
    import math

    from mt_operators import OPERATORS
    from mt_operators.core.differentiation import derivative
    from mt_operators.core.lowering import evaluate
    from mt_operators.core.tracing import graph_of

    first = derivative(graph_of(OPERATORS["sin"].value), 0)
    second = derivative(first, 0)
    values = [evaluate(first, [x, math.sin(x)])[0] for x in X]
    pairs = zip(X, values, strict=True)
    return values, [evaluate(second, [x, math.sin(x), value])[0] for x, value in pairs]


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar, grad

    scalars = [Scalar(x) for x in X]
    first = [grad(x.sin(), x, create_graph=True)[0] for x in scalars]
    return first, [grad(d, x)[0] for d, x in zip(first, scalars, strict=True)]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    x.sin().sum().backward(create_graph=True)
    first: Any = x.grad
    (second,) = mt.autograd.grad(first.sum(), x)
    return first, second


def reference() -> tuple[Any, Any]:
    import numpy as np

    return np.cos(X), -np.sin(X)
