"""Helper functions of kernels for a row of elements: its largest, and sums over it.

A kernel that goes over each row several times finds it in the cache, but for the first time: then
it waits for memory, and memory waits for it afterwards. So where a row is gone over for the last
time, the next one is looked at as well, element by element; such functions take `following`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.lowering import maximum
from mt_fast.core.reductions import REASSOCIATE
from mt_fast.core.tables import jit
from mt_fast.folds.extremes import larger
from mt_fast.vector_math.operators import decay

_summing = jit(fastmath=set(REASSOCIATE))
"""Compiles a function that is a sum, so that it may be added up in any order."""


@jit()
def largest_of(row: Any) -> Any:
    """Return the largest element; nan if there is one."""
    largest, has_nan = row[0], False
    for i in range(row.size):
        largest = larger(largest, row[i])  # which need not look out for nan
        has_nan |= row[i] != row[i]
    return row.dtype.type(np.nan) if has_nan else largest


@_summing
def sum_of(row: Any) -> Any:
    """Return the sum of a row."""
    total = row.dtype.type(0)
    for i in range(row.size):
        total += row[i]
    return total


@_summing
def sum_of_products(row: Any, other: Any) -> Any:
    """Return the sum of the products of two rows."""
    total = row.dtype.type(0)
    for i in range(row.size):
        total += row[i] * other[i]
    return total


@_summing
def sum_of_squares(row: Any, center: Any) -> Any:
    """Return the sum of the squared distances from a number."""
    total = row.dtype.type(0)
    for i in range(row.size):
        distance = row[i] - center
        total += distance * distance
    return total


@_summing
def sum_of_exponentials(row: Any, largest: Any, following: Any) -> Any:
    """Return the sum of `exp(element - largest)`, and the largest element of the following row."""
    total, beyond = row.dtype.type(0), following[0]
    for i in range(row.size):
        total += decay(row[i] - largest)
        beyond = maximum(beyond, following[i])
    return total, beyond


@_summing
def exponentials_into(result: Any, row: Any, largest: Any, following: Any) -> Any:
    """Write `exp(element - largest)`, and return the same."""
    total, beyond = row.dtype.type(0), following[0]
    for i in range(row.size):
        value = decay(row[i] - largest)
        result[i] = value
        total += value
        beyond = maximum(beyond, following[i])
    return total, beyond


@_summing
def exponentials_in_place(row: Any, largest: Any) -> Any:
    """Write `exp(element - largest)` in place, and return the sum.

    With `row` twice `exponentials_into` would not be vectorised.
    """
    total = row.dtype.type(0)
    for i in range(row.size):
        value = decay(row[i] - largest)
        row[i] = value
        total += value
    return total
