"""Constraints: the sets of valid parameters and values of distributions.

They are checked with NumPy on the host: the result of a check is needed there in any case, and most
parameters have so few elements that tensor operations would take longer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mt_tensor import DType, finfo
from mt_tensor.extending import Array


class Constraint(NamedTuple):
    """A set of numbers, vectors or matrices.

    Attributes:
        description: the elements of the set, in the plural.
        check: returns for each element of an array whether it is in the set.
        event_dim: the number of dimensions of an element: 0 for numbers, 1 for vectors.
    """

    description: str
    check: Callable[[Array], Any]
    event_dim: int = 0


def vectors(constraint: Constraint) -> Constraint:
    """Return the constraint on vectors whose elements satisfy a constraint."""
    return Constraint(constraint.description, lambda x: constraint.check(x).all(-1), 1)


@functools.lru_cache
def integers_below(count: int) -> Constraint:
    """Return the constraint on the integers from 0 to `count - 1`."""
    return Constraint(
        f"integers from 0 to {count - 1}", lambda x: (x >= 0) & (x < count) & (x == np.floor(x))
    )


@functools.lru_cache
def simplex(dtype: DType) -> Constraint:
    """Return the constraint on probability vectors, whose sum is 1 up to rounding in a dtype."""
    eps = finfo(dtype).eps

    def check(x: Array) -> Any:
        return (x >= 0).all(-1) & (abs(x.sum(-1) - 1.0) < max(1e-6, x.shape[-1] * eps))

    return Constraint("non-negative numbers that sum to 1", check, 1)


def _weights(x: Array) -> Any:
    return (x.min(-1) >= 0) & (x.max(-1) > 0)


def _one_hot(x: Array) -> Any:
    return boolean.check(x).all(-1) & (x.sum(-1) == 1)


def _definite(x: Array) -> Any:
    wide = x.astype(np.float64)
    symmetric = np.isclose(wide, wide.swapaxes(-1, -2), atol=1e-6).all((-1, -2))
    wide[~symmetric] = 0.0  # eigvalsh() raises an error for nan
    return symmetric & (np.linalg.eigvalsh(wide)[..., 0] > 0)


def _triangular(x: Array) -> Any:
    return (x == np.tril(x)).all((-1, -2)) & (np.diagonal(x, 0, -2, -1) > 0).all(-1)


real = Constraint("numbers other than nan", lambda x: x == x)
positive = Constraint("positive numbers", lambda x: x > 0)
nonnegative = Constraint("non-negative numbers", lambda x: x >= 0)
nonnegative_integer = Constraint("non-negative integers", lambda x: (x >= 0) & (x == np.floor(x)))
unit_interval = Constraint("numbers between 0 and 1", lambda x: (x >= 0) & (x <= 1))
boolean = Constraint("zeros and ones", lambda x: (x == 0) | (x == 1))
weights = Constraint("non-negative numbers that are not all zero", _weights, 1)
one_hot = Constraint("vectors with a single 1 and otherwise 0", _one_hot, 1)
positive_definite = Constraint("symmetric positive definite matrices", _definite, 2)
lower_cholesky = Constraint("lower triangular matrices with a positive diagonal", _triangular, 2)
