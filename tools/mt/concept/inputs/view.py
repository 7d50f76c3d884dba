"""A table is transposed, and flipped vertically, by strides alone; then it is weighted."""

from typing import Any

X = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
WEIGHTS = [[0.5, -1.0], [2.0, 0.25], [-3.0, 1.5]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt
    from mt_operators import operators
    from mt_tensor.course import TensorOps

    x = mt.tensor(X, requires_grad=True)
    turned = x.permute(1, 0).flip(0)
    (turned * mt.tensor(WEIGHTS)).sum().backward()
    return TensorOps().zip(operators.mul)(turned, mt.tensor(WEIGHTS)), x.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    weights = np.array(WEIGHTS)
    return np.array(X).T[::-1] * weights, weights[::-1].T
