"""Helper functions of kernels for a row of elements: its maximum, and sums over it.

A kernel that passes over a row several times finds it in the cache, except for the first time: it
waits for memory then, and leaves memory idle afterwards. So the last pass over a row also reads the
next row; such functions take `following`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.core.lowering import maximum
from mt_fast.core.reductions import REASSOCIATE
from mt_fast.core.tables import jit
from mt_fast.folds.extremes import larger
from mt_fast.vector_math.operators import decay

summing = jit(fastmath=set(REASSOCIATE))
"""Compile a function that sums a row, in any order of additions, so that it is vectorized."""


@jit()
def largest_of(row: Any) -> Any:
    """Return the largest element; nan if any element is nan."""
    largest, has_nan = row[0], False
    for i in range(row.size):
        largest = larger(largest, row[i])  # without a test for nan
        has_nan |= row[i] != row[i]
    return row.dtype.type(np.nan) if has_nan else largest


@summing
def sum_of(row: Any) -> Any:
    """Return the sum of a row."""
    total = row.dtype.type(0)
    for i in range(row.size):
        total += row[i]
    return total


@summing
def sum_of_products(row: Any, other: Any) -> Any:
    """Return the sum of the products of two rows."""
    total = row.dtype.type(0)
    for i in range(row.size):
        total += row[i] * other[i]
    return total


@summing
def sum_of_squares(row: Any, center: Any) -> Any:
    """Return the sum of the squared distances from `center`."""
    total = row.dtype.type(0)
    for i in range(row.size):
        distance = row[i] - center
        total += distance * distance
    return total


@summing
def sum_of_exponentials(row: Any, largest: Any, following: Any) -> Any:
    """Return the sum of `exp(element - largest)`, and the largest element of the following row."""
    total, next_largest = row.dtype.type(0), following[0]
    for i in range(row.size):
        total += decay(row[i] - largest)
        next_largest = maximum(next_largest, following[i])
    return total, next_largest


@summing
def exponentials_into(result: Any, row: Any, largest: Any, following: Any) -> Any:
    """Write `exp(element - largest)`, and return the same as `sum_of_exponentials`."""
    total, next_largest = row.dtype.type(0), following[0]
    for i in range(row.size):
        value = decay(row[i] - largest)
        result[i] = value
        total += value
        next_largest = maximum(next_largest, following[i])
    return total, next_largest


@summing
def exponentials_in_place(row: Any, largest: Any) -> Any:
    """Replace elements by `exp(element - largest)`, and return the sum.

    `exponentials_into` with `row` as the result would not be vectorized.
    """
    total = row.dtype.type(0)
    for i in range(row.size):
        value = decay(row[i] - largest)
        row[i] = value
        total += value
    return total
