"""Rows of a table are looked up by four numbers, of which two are the same."""

from typing import Any

TABLE = [[0.5, 1.0], [-2.0, 0.25], [3.0, -1.5]]
NUMBERS = [2, 0, 2, 1]
WEIGHTS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]


def tensor() -> tuple[Any, Any]:
    import mt_tensor as mt

    table = mt.tensor(TABLE, requires_grad=True)
    out = table.index_select(0, mt.tensor(NUMBERS))
    (out * mt.tensor(WEIGHTS)).sum().backward()
    return out, table.grad


def fast() -> tuple[Any, Any]:
    return nn()


def nn() -> tuple[Any, Any]:
    import mt_nn as nn
    import mt_tensor as mt

    table = mt.tensor(TABLE, requires_grad=True)
    out = nn.functional.embedding(mt.tensor(NUMBERS), table)
    (out * mt.tensor(WEIGHTS)).sum().backward()
    return out, table.grad


def reference() -> tuple[Any, Any]:
    import numpy as np

    gradient = np.zeros((3, 2))
    np.add.at(gradient, NUMBERS, WEIGHTS)
    return np.array(TABLE)[NUMBERS], gradient
