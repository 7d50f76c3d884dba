"""A module squares its only parameter; the parameter is then replaced by 2, and squared again."""

from typing import Any

BEFORE, AFTER = 0.5, 2.0


def _square(value: Any) -> Any:
    from mt_operators import Module, Parameter

    class Square(Module):
        def __init__(self) -> None:
            super().__init__()
            self.side = Parameter(value)

        def forward(self) -> Any:
            return self.side.value * self.side.value

    return Square()


def operators() -> tuple[Any, Any]:
    square = _square(BEFORE)
    before = square()
    square.side.update(AFTER)
    return [before, square()], None


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    square = _square(Scalar(BEFORE))
    before = square()
    before.backward()
    gradient = square.side.value.grad
    square.side.update(Scalar(AFTER))
    return [before, square()], gradient


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    class Square(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.side = nn.Parameter(mt.tensor(BEFORE))

        def forward(self) -> Any:
            return self.side * self.side

    square = Square()
    before = square()
    before.backward()
    square.side.update(AFTER)
    return [before.item(), square()], square.side.grad


def reference() -> tuple[Any, Any]:
    return [BEFORE**2, AFTER**2], 2.0 * BEFORE
