"""Elements of each row are read by index, one of them twice, so that its gradients add up."""

from typing import Any

from mt.concept.gradients import of_tensors

X = [[10.0, 11.0, 12.0], [20.0, 21.0, 22.0]]
INDEX = [[2, 0, 2], [1, 1, 0]]
WEIGHTS = [[0.5, -1.0, 2.0], [3.0, 0.25, -0.5]]


def weighted(elements: Any) -> Any:
    import mt_tensor as mt

    return elements * mt.tensor(WEIGHTS)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    return of_tensors(lambda x: x.gather(1, mt.tensor(INDEX)), X, loss=weighted)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    places = mt.tensor(INDEX) + mt.tensor([[0], [3]])

    def read(x: Any) -> Any:
        return nn.functional.embedding(places, x.view(6, 1)).squeeze(-1)

    return of_tensors(read, X, loss=weighted)


def reference() -> tuple[Any, Any]:
    import numpy as np

    gradient = np.zeros((2, 3))
    for row, (places, weights) in enumerate(zip(INDEX, WEIGHTS, strict=True)):
        np.add.at(gradient[row], places, weights)
    return np.take_along_axis(np.array(X), np.array(INDEX), 1), gradient
