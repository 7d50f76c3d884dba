"""The largest of each row of a table, and that of all; no two of its numbers are equal."""

from typing import Any

X = [[0.5, 3.0, -1.0, 2.0], [-4.0, -2.5, -0.5, -3.0]]


def largest_of(numbers: list[float]) -> tuple[float, list[float]]:
    """Return the largest of numbers, and its derivatives by all of them."""
    from mt_operators import OPERATORS

    row = OPERATORS["maximum"]
    steps, total = [], float("-inf")
    for number in numbers:
        before, total = total, row.function(total, number)
        steps.append((before, number, total))
    slopes, upstream = [], 1.0
    for step in reversed(steps):
        slopes.append(upstream * row.partials[1](*step))
        upstream *= row.partials[0](*step)
    return total, slopes[::-1]


def operators() -> tuple[Any, Any]:
    (first, by_first), (second, by_second) = map(largest_of, X)
    every, by_rows = largest_of([first, second])
    slopes = zip((by_first, by_second), by_rows, strict=True)
    return (
        [[first, second], every],
        [[slope * (1.0 + by_row) for slope in row] for row, by_row in slopes],
    )


def autodiff() -> tuple[Any, Any]:
    from mt_autodiff import Scalar
    from mt_operators import operators

    def largest(scalars: list[Any]) -> Any:
        return operators.reduce(lambda x, y: x.maximum(y), scalars[0])(scalars[1:])

    table = [[Scalar(x) for x in row] for row in X]
    rows = [largest(row) for row in table]
    every = largest([x for row in table for x in row])
    for value in (*rows, every):
        value.backward()
    return [rows, every], [[x.grad or 0.0 for x in row] for row in table]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    rows, _ = x.max(1)
    every = x.amax()
    (rows.sum() + every).backward()
    return [rows, every], x.grad


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    x = mt.tensor(X, requires_grad=True)
    rows, every = (
        nn.functional.max_pool2d(x.view(1, 1, 2, 4), window) for window in ((1, 4), (2, 4))
    )
    (rows.sum() + every.sum()).backward()
    return [rows.flatten(), every.squeeze()], x.grad


def reference() -> tuple[Any, Any]:
    every = max(map(max, X))
    slopes = [[float(x == max(row)) + float(x == every) for x in row] for row in X]
    return [[max(row) for row in X], every], slopes
