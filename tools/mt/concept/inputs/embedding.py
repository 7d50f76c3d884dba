"""Four indices look up rows of a table; two of them are the same."""

from typing import Any

from mt.concept.gradients import of_tensors

TABLE = [[0.5, 1.0], [-2.0, 0.25], [3.0, -1.5]]
NUMBERS = [2, 0, 2, 1]
WEIGHTS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]


def weighted(rows: Any) -> Any:
    import mt_tensor as mt

    return rows * mt.tensor(WEIGHTS)


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    numbers = mt.tensor(NUMBERS)
    return of_tensors(lambda table: table.index_select(0, numbers), TABLE, loss=weighted)


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    numbers = mt.tensor(NUMBERS)
    return of_tensors(lambda table: nn.functional.embedding(numbers, table), TABLE, loss=weighted)


fast = nn


def reference() -> tuple[Any, Any]:
    import numpy as np

    gradient = np.zeros((3, 2))
    np.add.at(gradient, NUMBERS, WEIGHTS)
    return np.array(TABLE)[NUMBERS], gradient
