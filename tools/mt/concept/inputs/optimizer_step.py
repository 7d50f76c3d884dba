"""One step of gradient descent on the sum of squares of three numbers, at a rate of 0.1."""

from typing import Any

X = [1.0, -2.0, 0.5]
RATE = 0.1


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar
    from mt_autodiff.examples.training import GradientDescent
    from mt_operators import Parameter

    parameters = [Parameter(Scalar(x)) for x in X]
    for parameter in parameters:
        parameter.value.square().backward()
    gradient = [parameter.value.grad for parameter in parameters]
    GradientDescent(parameters).step(RATE)
    return [parameter.value for parameter in parameters], gradient


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    x.square().sum().backward()
    with mt.no_grad():
        x.sub_(x.grad, alpha=RATE)
    return x, x.grad


def recorded() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    x.square().sum().backward()
    x.sub_(x.grad, alpha=RATE)
    return x, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = nn.Parameter(mt.tensor(X))
    optimizer = nn.optim.SGD([x], lr=RATE)
    x.square().sum().backward()
    optimizer.step()
    return x, x.grad


numpy = fast = nn


def reference() -> tuple[Any, Any]:
    gradient = [2.0 * x for x in X]
    return [x - RATE * slope for x, slope in zip(X, gradient, strict=True)], gradient
