"""Two steps down the slope of a sum of squares, each a program's run but the first."""

from typing import Any

X = [1.0, -2.0, 0.5]
RATE = 0.1


def _slope(x: Any, rate: Any) -> Any:
    return x - rate * (2 * x)


def _step(x: Any) -> Any:
    import mt_tensor as mt

    @mt.compile
    def step() -> Any:
        x.grad = None
        x.square().sum().backward()
        with mt.no_grad():
            x.sub_(x.grad, alpha=RATE)

    return step


def program() -> str:
    import mt_tensor as mt

    step = _step(mt.tensor(X, requires_grad=True))
    step()
    return str(step.program)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    step = _step(x)
    step()
    step()
    return x, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = nn.Parameter(mt.tensor(X))
    optimizer = nn.optim.SGD([x], lr=RATE)

    @mt.compile
    def step() -> None:
        optimizer.zero_grad()
        x.square().sum().backward()
        optimizer.step()

    step()
    step()
    return x, x.grad


def frozen() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X)
    step = mt.compile(lambda: x.sub_(2 * RATE * x) if x.sum() < 0 else x)
    return step(), None


def reference() -> tuple[Any, Any]:
    import numpy as np

    first = (1 - 2 * RATE) * np.array(X)
    return (1 - 2 * RATE) * first, 2 * first
