"""A tree of two modules with two parameters each: its output for 2, and the number of each.

The gradient is that of the four parameters, in the order of their names.
"""

from typing import Any

X = 2.0
VALUES = {"first.weight": 0.5, "first.bias": 1.0, "second.weight": -3.0, "second.bias": 0.25}


def _tree(make: Any) -> Any:
    """Return a tree whose parameters are created by `make`."""
    from mt_operators import Module, Parameter

    class Line(Module):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.weight = Parameter(make(VALUES[f"{name}.weight"]))
            self.bias = Parameter(make(VALUES[f"{name}.bias"]))

        def forward(self, x: Any) -> Any:
            return self.weight.value * x + self.bias.value

    class Lines(Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = Line("first"), Line("second")

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    return Lines()


def operators() -> tuple[Any, Any]:
    tree = _tree(float)
    return [tree(X), len(list(tree.modules())), len(list(tree.parameters()))], None


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    tree = _tree(Scalar)
    out = tree(X)
    out.backward()
    parameters = list(tree.parameters())
    return [out, len(list(tree.modules())), len(parameters)], [p.value.grad for p in parameters]


def nn() -> tuple[Any, Any]:
    from collections import OrderedDict

    import mt_nn as nn
    import mt_tensor as mt

    tree = nn.Sequential(OrderedDict(first=nn.Linear(1, 1), second=nn.Linear(1, 1)))
    with mt.no_grad():
        for name, value in VALUES.items():
            tree.get_parameter(name).fill_(value)
    tree.to(mt.float32)
    out = tree(mt.tensor([X])).sum()
    out.backward()
    parameters: list[Any] = list(tree.parameters())
    counts = [len(list(tree.modules())), len(parameters)]
    return [out, *counts], [p.grad.sum() for p in parameters]


def reference() -> tuple[Any, Any]:
    a, b, c, d = VALUES.values()
    return [c * (a * X + b) + d, 3, 4], [c * X, c, a * X + b, 1.0]
