"""Two steps of gradient descent on a sum of squares; the second is a program's run, or deferred."""

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
    with mt.lazy():
        step()
    return x, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt
    from mt_nn.train import Trainer

    class Point(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.place = nn.Parameter(mt.tensor(X))

        def forward(self, origin: mt.Tensor) -> mt.Tensor:
            return self.place.value - origin

    point = Point()
    optimizer = nn.optim.SGD(point.parameters(), lr=RATE)
    trainer = Trainer(point, optimizer, lambda found, _: found.square().sum(), compile=True)
    batch = mt.zeros(3), mt.zeros(3)
    trainer.fit([batch], 1)
    first = point.place.value.detach().clone()
    trainer.fit([batch], 2)
    x = point.place.value.detach()
    return x, (first - x) / RATE  # a trainer clears gradients


def frozen() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X)
    step = mt.compile(lambda: x.sub_(2 * RATE * x) if x.sum() < 0 else x)
    return step(), None


def reference() -> tuple[Any, Any]:
    import numpy as np

    first = (1 - 2 * RATE) * np.array(X)
    return (1 - 2 * RATE) * first, 2 * first
