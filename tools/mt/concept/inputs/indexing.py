"""Elements of each row are read by index, one of them twice; its gradients are added up."""

from typing import Any

X = [[10.0, 11.0, 12.0], [20.0, 21.0, 22.0]]
INDEX = [[2, 0, 2], [1, 1, 0]]
WEIGHTS = [[0.5, -1.0, 2.0], [3.0, 0.25, -0.5]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    out = x.gather(1, mt.tensor(INDEX))
    (out * mt.tensor(WEIGHTS)).sum().backward()
    return out, x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    places = mt.tensor(INDEX) + mt.tensor([[0], [3]])
    out = nn.functional.embedding(places, x.view(6, 1)).squeeze(-1)
    (out * mt.tensor(WEIGHTS)).sum().backward()
    return out, x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    gradient = np.zeros((2, 3))
    for row, (places, weights) in enumerate(zip(INDEX, WEIGHTS, strict=True)):
        np.add.at(gradient[row], places, weights)
    return np.take_along_axis(np.array(X), np.array(INDEX), 1), gradient
