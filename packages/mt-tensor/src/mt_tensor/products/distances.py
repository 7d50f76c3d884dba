"""Distances between vectors: of two tensors, of corresponding rows, of all pairs of rows.

All are norms of differences. The gradient between equal vectors is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.checks import check_choice, check_same_dtype, validate_call
from mt_tensor.core.arguments import check_floating
from mt_tensor.core.dtypes import as_number
from mt_tensor.core.operands import common_backend
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, ShapeError
from mt_tensor.reductions.norms import p_norm


@validate_call
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the p-norm of `input - other`, a 0-D tensor; both are broadcast.

    Raises:
        DTypeError: neither tensor is floating-point.
        IndexingError: the shapes do not broadcast; or there are no elements, and `p` is negative or
            inf.
        TypeError: `p` is not a number.
    """
    return p_norm("dist", input - other, as_number("dist(): p", p))


@validate_call
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the p-norms of the differences of vectors along the last dimension.

    Args:
        x1: vectors along the last dimension.
        x2: vectors along the last dimension; both are broadcast.
        p: the exponent of the norm.
        eps: a number to add to each difference, so that none is 0.
        keepdim: whether to keep the last dimension, with size 1.

    Raises:
        IndexingError: the shapes do not broadcast.
        TypeError: `p` or `eps` is not a number.
    """
    return p_norm(
        "pairwise_distance", x1 - x2 + as_number("pairwise_distance(): eps", eps), p, -1, keepdim
    )


_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)


@validate_call
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = _MODES[0]) -> Tensor:
    """Return the p-norms of the differences of all pairs of rows.

    Args:
        x1: shape (*batch, n, m).
        x2: shape (*batch, k, m), of the same dtype; the batch dimensions broadcast.
        p: the exponent of the norm, from 0 to inf; 0 counts unequal elements, with gradient 0.
        compute_mode: accepted for compatibility with torch, where it selects matrix products;
            differences are always used here, which avoids cancellation.

    Returns:
        Shape (*batch, n, k).

    Raises:
        ShapeError: there are fewer than two dimensions, or the rows have different lengths.
        DTypeError: the dtypes differ, or are not floating-point.
        DomainError: `p` is negative, or `compute_mode` has another value.
        IndexingError: the batch dimensions do not broadcast.
    """
    common_backend(x1, x2)
    check_choice("cdist", "compute_mode", compute_mode, _MODES)
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(
            f"cdist() takes rows of equal length, in at least two dimensions; shapes {x1.shape} "
            f"and {x2.shape} were given."
        )
    _check_operands("cdist", p, x1, x2)
    return _row_norms("cdist", x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


@validate_call
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """Return the p-norms of the differences of each pair of rows: the upper triangle of `cdist`.

    Args:
        input: shape (n, m).
        p: the exponent of the norm, from 0 to inf.

    Returns:
        A vector of n * (n - 1) / 2 norms: of the first row and each later one, then of the second
        and each later one, and so on.

    Raises:
        ShapeError: `input` is not a matrix.
        DTypeError: `input` is not floating-point.
        DomainError: `p` is negative.
    """
    if input.ndim != 2:
        raise ShapeError(f"pdist() takes a matrix; shape {input.shape} was given.")
    _check_operands("pdist", p, input)
    pairs = np.triu_indices(input.shape[0], 1)
    first, second = (input._uploaded(rows) for rows in pairs)
    return _row_norms("pdist", input[first] - input[second], p)


def _check_operands(name: str, p: float, *tensors: Any) -> None:
    check_same_dtype(name, *tensors)
    check_floating(name, tensors[0])
    if not as_number(f"{name}(): p", p) >= 0:
        raise DomainError(f"{name}() needs p >= 0; {p!r} was given.")


def _row_norms(name: str, x: Tensor, p: float) -> Tensor:
    """Return norms along the last dimension; 0 if its size is 0."""
    return p_norm(name, x, p, -1) if x.shape[-1] else x.sum(-1)
