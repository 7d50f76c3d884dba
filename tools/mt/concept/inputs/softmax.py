"""The softmax of four numbers around 100, and the gradient of its last element."""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

X = [101.0, 99.5, 102.0, 100.25]


def last(elements: Any) -> Any:
    return elements[-1]


def autodiff() -> tuple[Any, Any]:
    def shares(scalars: Any) -> Any:
        powers = [scalar.exp() for scalar in scalars]
        total = sum(powers)
        return [power / total for power in powers]

    return of_scalars(shares, X, loss=last)


def tensor() -> tuple[Any, Any]:
    return of_tensors(lambda x: x.softmax(0), X, loss=last)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn

    return of_tensors(nn.Softmax(0), X, loss=last)


def without_maximum() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    powers = x.exp()
    out = powers / powers.sum()
    out[-1].backward()
    return out, x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    out = np.exp(X) / np.exp(X).sum()
    return out, out[-1] * (np.arange(4) == 3) - out[-1] * out
