"""A product of matrices, the sine of its elements and their sum: three of the primitives."""

from typing import Any

A = [[1.0, -0.5], [0.25, 2.0]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    a = mt.tensor(A, requires_grad=True)
    out = (a @ a).sin().sum()
    out.backward()
    return out, a.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    a = np.array(A)
    slopes = np.cos(a @ a)
    return np.sin(a @ a).sum(), slopes @ a.T + a.T @ slopes
