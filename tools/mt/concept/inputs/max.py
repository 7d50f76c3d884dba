"""The maximum of each row of a table, and of the whole; all numbers are different."""

from typing import Any

from mt.concept.gradients import of_scalars, of_tensors

X = [[0.5, 3.0, -1.0, 2.0], [-4.0, -2.5, -0.5, -3.0]]


def largest_of(numbers: list[float]) -> tuple[float, list[float]]:
    """Return the maximum of numbers, and its derivative by each."""
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
    from mt_operators import operators

    def largest(scalars: list[Any]) -> Any:
        return operators.reduce(lambda x, y: x.maximum(y), scalars[0])(scalars[1:])

    def of_table(table: list[list[Any]]) -> Any:
        rows = [largest(row) for row in table]
        return [rows, largest(rows)]

    return of_scalars(of_table, X)


def tensor() -> tuple[Any, Any]:
    return of_tensors(lambda x: [x.max(1).values, x.amax()], X)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn

    def largest(x: Any, rows: int) -> Any:
        return nn.functional.max_pool2d(x[None, None], (rows, 4)).squeeze()

    return of_tensors(lambda x: [largest(x, 1), largest(x, 2)], X)


def reference() -> tuple[Any, Any]:
    every = max(map(max, X))
    slopes = [[float(x == max(row)) + float(x == every) for x in row] for row in X]
    return [[max(row) for row in X], every], slopes
