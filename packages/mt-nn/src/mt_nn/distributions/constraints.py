"""Constraints: the sets from which parameters and values of distributions come."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import mt_tensor as mt
from mt_tensor import Tensor, linalg


class Constraint(NamedTuple):
    """A set of numbers, vectors or matrices.

    Attributes:
        description: the elements of the set, in the plural.
        check: returns for each element of a tensor whether it is in the set.
        event_dim: the number of dimensions of an element: 0 for numbers, 1 for vectors.
    """

    description: str
    check: Callable[[Tensor], Tensor]
    event_dim: int = 0


def vectors(constraint: Constraint) -> Constraint:
    """Return the constraint on vectors whose elements satisfy a constraint."""
    return Constraint(constraint.description, lambda x: constraint.check(x).all(-1), 1)


def integers_below(count: int) -> Constraint:
    """Return the constraint on the integers from 0 to `count - 1`."""
    return Constraint(
        f"integers from 0 to {count - 1}", lambda x: (x >= 0) & (x < count) & (x == x.floor())
    )


def _weights(x: Tensor) -> Tensor:
    return (x >= 0).all(-1) & (x.sum(-1) > 0)


def _one_hot(x: Tensor) -> Tensor:
    return boolean.check(x).all(-1) & (x.sum(-1) == 1)


def _definite(x: Tensor) -> Tensor:
    symmetric = x.isclose(x.mT, atol=1e-6).all(-1).all(-1)
    matrices = x.masked_fill(~symmetric[..., None, None], 0.0)  # eigenvalues of nan are errors
    return symmetric & (linalg.eigvalsh(matrices)[..., 0] > 0)


def _triangular(x: Tensor) -> Tensor:
    return (x == x.tril()).all(-1).all(-1) & (x.diagonal(0, -2, -1) > 0).all(-1)


def _shares(x: Tensor) -> Tensor:
    rounding = max(1e-6, x.shape[-1] * mt.finfo(x.dtype).eps)
    return (x >= 0).all(-1) & ((x.sum(-1) - 1.0).abs() < rounding)


real = Constraint("numbers other than nan", lambda x: x == x)
positive = Constraint("positive numbers", lambda x: x > 0)
nonnegative = Constraint("non-negative numbers", lambda x: x >= 0)
nonnegative_integer = Constraint("non-negative integers", lambda x: (x >= 0) & (x == x.floor()))
unit_interval = Constraint("numbers between 0 and 1", lambda x: (x >= 0) & (x <= 1))
boolean = Constraint("zeros and ones", lambda x: (x == 0) | (x == 1))
weights = Constraint("non-negative numbers that are not all zero", _weights, 1)
simplex = Constraint("non-negative numbers with the sum 1", _shares, 1)
one_hot = Constraint("vectors with a single 1 and otherwise 0", _one_hot, 1)
positive_definite = Constraint("symmetric positive definite matrices", _definite, 2)
lower_cholesky = Constraint("lower triangular matrices with a positive diagonal", _triangular, 2)
