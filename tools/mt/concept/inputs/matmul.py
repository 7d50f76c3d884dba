"""A product of two small matrices, and the gradients of the sum of its elements."""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

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
    def product(a: Any, b: Any) -> Any:
        return [[_dot(row, column) for column in zip(*b, strict=True)] for row in a]

    return of_scalars(product, A, B)


def tensor() -> tuple[Any, Any]:
    return of_tensors(lambda a, b: a @ b, A, B)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn

    return of_tensors(lambda a, b: nn.functional.linear(a, b.T), A, B)


def reference() -> tuple[Any, Any]:
    import numpy as np

    a, b, ones = np.array(A), np.array(B), np.ones((2, 2))
    return a @ b, [ones @ b.T, a.T @ ones]
