"""A product of two small matrices, and the gradients of the sum of its elements by both."""

from typing import Any

A = [[1.0, -2.0, 0.5], [3.0, 1.5, -1.0]]
B = [[2.0, 0.25], [-1.0, 4.0], [0.5, -3.0]]


def operators() -> tuple[Any, Any]:
    from mt_operators import operators

    times = operators.zipWith(operators.mul)
    columns = list(zip(*B, strict=True))
    return [[operators.sum(times(row, column)) for column in columns] for row in A], None


def _dot(row: Any, column: Any) -> Any:
    first, *rest = (x * y for x, y in zip(row, column, strict=True))
    return sum(rest, first)


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar

    a, b = ([[Scalar(x) for x in row] for row in matrix] for matrix in (A, B))
    out = [[_dot(row, column) for column in zip(*b, strict=True)] for row in a]
    sum((x for row in out for x in row), Scalar(0.0)).backward()
    return out, [[[x.grad for x in row] for row in matrix] for matrix in (a, b)]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    a, b = mt.tensor(A, requires_grad=True), mt.tensor(B, requires_grad=True)
    out = a @ b
    out.sum().backward()
    return out, [a.grad, b.grad]


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    a, b = mt.tensor(A, requires_grad=True), mt.tensor(B, requires_grad=True)
    out = nn.functional.linear(a, b.T)
    out.sum().backward()
    return out, [a.grad, b.grad]


def reference() -> tuple[Any, Any]:
    import numpy as np

    a, b, ones = np.array(A), np.array(B), np.ones((2, 2))
    return a @ b, [ones @ b.T, a.T @ ones]
