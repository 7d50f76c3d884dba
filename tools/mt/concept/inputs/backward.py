"""The derivatives of `x / y + x` by x and y: x is used twice, and gets two contributions."""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

X, Y = 1.5, -0.5


def operators() -> tuple[Any, Any]:
    from mt_operators import OPERATORS

    div, add = OPERATORS["div"], OPERATORS["add"]
    quotient = div.function(X, Y)
    total = add.function(quotient, X)
    by_quotient, by_x = add.gradient((True, True)).function(1.0, quotient, X, total)
    through_x, through_y = div.gradient((True, True)).function(by_quotient, X, Y, quotient)
    return total, [by_x + through_x, through_y]


def autodiff() -> tuple[Any, Any]:
    return of_scalars(lambda x, y: x / y + x, X, Y)


def tensor() -> tuple[Any, Any]:
    return of_tensors(lambda x, y: x / y + x, X, Y)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x, y = nn.Parameter(mt.tensor(X)), nn.Parameter(mt.tensor(Y))
    optimizer = nn.optim.SGD([x, y], lr=0.1)
    (x * y).backward()  # the step before
    optimizer.zero_grad()
    total = x / y + x
    total.backward()
    optimizer.step()
    return total, [x.grad, y.grad]


def reference() -> tuple[Any, Any]:
    return X / Y + X, [1.0 / Y + 1.0, -X / Y**2]
