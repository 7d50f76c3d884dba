"""What kernels ask of a row of elements: its largest, and sums over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_fast.compilation.jit import jit
from mt_fast.generation.reductions import REASSOCIATE
from mt_fast.generation.spelling import decay, larger

_summing = jit(fastmath=set(REASSOCIATE))
"""Compiles a function that is a sum, so that it may be added up in any order."""


@jit()
def largest_of(row: Any) -> Any:
    """Return the largest element; nan if there is one."""
    largest, spoilt = row[0], False
    for i in range(row.size):
        largest = larger(largest, row[i])  # which need not look out for nan
        spoilt |= row[i] != row[i]
    return row.dtype.type(np.nan) if spoilt else largest


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
def sum_of_exponentials(row: Any, largest: Any) -> Any:
    """Return the sum of `exp(element - largest)`."""
    total = row.dtype.type(0)
    for i in range(row.size):
        total += decay(row[i] - largest)
    return total


@_summing
def exponentials_into(result: Any, row: Any, largest: Any) -> Any:
    """Write `exp(element - largest)`, and return the sum."""
    total = row.dtype.type(0)
    for i in range(row.size):
        value = decay(row[i] - largest)
        result[i] = value
        total += value
    return total


@_summing
def exponentials_in_place(row: Any, largest: Any) -> Any:
    """Do the same in place, which is not vectorised if `row` and `result` may be one."""
    total = row.dtype.type(0)
    for i in range(row.size):
        value = decay(row[i] - largest)
        row[i] = value
        total += value
    return total
