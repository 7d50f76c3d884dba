"""Samples of matrices taken apart into factors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.errors import DomainError, LinAlgError, ShapeError
from mt_tensor.testing.linalg import (
    OBLONG,
    SQUARE,
    leaning,
    leaning_array,
    not_floating,
    not_square,
    positive,
    positive_array,
    varied,
)
from mt_tensor.testing.specs import refused, row, single

_row = partial(row, dtypes="wide float")
"""A row of an operation on float32 and float64, as most of linear algebra is."""


def _recomposed(found: Any, function: Callable[..., Any]) -> Any:
    values, vectors = found
    return (vectors * function(values)[..., None, :]) @ vectors.swapaxes(-1, -2)


def _swapped(found: Any) -> Any:
    """Return U Vh, the nearest matrix with orthonormal rows or columns, stretched by S."""
    u, s, vh = found
    return u @ vh * (1 + s[..., :1, None])


def _from_full(found: Any, x: Any) -> Any:
    """Return the product of full factors."""
    u, s, vh = found
    k = s.shape[-1]
    return u[..., :k] * s[..., None, :] @ vh[..., :k, :] + 0 * (u @ x @ vh)


def _times(found: Any) -> Any:
    """Return what does not vary with the signs of the factors, and needs both."""
    q, r = found
    return (q * q) @ (r * r)


for _upper in (False, True):
    _row(
        "cholesky",
        lambda x, up=_upper: mt.linalg.cholesky(positive(x), upper=up),
        lambda x, up=_upper: (
            np.swapaxes(np.linalg.cholesky(positive_array(x)), -1, -2)
            if up
            else np.linalg.cholesky(positive_array(x))
        ),
        *SQUARE,
    )
refused("cholesky", lambda x: mt.linalg.cholesky(-x @ x.T), LinAlgError, "not positive definite")
not_square("cholesky")
not_floating("cholesky")
_row(
    "eigh",
    # The signs of eigenvectors are open: only what does not vary with them is compared.
    lambda x: _recomposed(mt.linalg.eigh(positive(x)), lambda values: values.exp()),
    lambda x: _recomposed(np.linalg.eigh(positive_array(x)), np.exp),
    *single((2, 2), (2, 3, 2)),
)
not_square("eigh")
not_floating("eigh")
refused("eigh", lambda x: mt.linalg.eigh(x @ x.T, "M"), DomainError, "'M' was given")
for _triangle in ("L", "U"):
    _row(
        "eigvalsh",
        lambda x, uplo=_triangle: mt.linalg.eigvalsh(leaning(x), uplo),
        lambda x, uplo=_triangle: np.linalg.eigvalsh(leaning_array(x), uplo),
        *single((2, 2), (1, 1)),
        differentiable=False,
    )
not_square("eigvalsh")
_row(
    "eigvalsh",
    lambda x: mt.linalg.eigvalsh(positive(x)),
    lambda x: np.linalg.eigvalsh(positive_array(x)),
    *single((2, 2), (2, 2, 2)),
)


_row(
    "svd",
    lambda x: _swapped(mt.linalg.svd(varied(x), full_matrices=False)),
    lambda x: _swapped(np.linalg.svd(varied(x), full_matrices=False)),
    *single((2, 3), (3, 2), (2, 2), (2, 2, 3)),
)
refused("svd", lambda x: mt.linalg.svd(x[0]), ShapeError, "takes matrices")
not_floating("svd")
_row("svd", lambda x: _from_full(mt.linalg.svd(x), x), lambda x: x, *OBLONG, differentiable=False)
_row(
    "svdvals",
    lambda x: mt.linalg.svdvals(varied(x)),
    lambda x: np.linalg.svd(varied(x), compute_uv=False),
    *OBLONG,
)
not_floating("svdvals")


for _mode in ("reduced", "complete"):
    _row(
        "qr",
        lambda x, mode=_mode: mt.linalg.qr(varied(x), mode)[1].abs(),
        lambda x, mode=_mode: abs(np.linalg.qr(varied(x), mode)[1]),
        *OBLONG,
        ((4, 2),),
        differentiable=False,
    )
    refused("qr", lambda x, mode=_mode: mt.linalg.qr(x[0], mode), ShapeError, "takes matrices")
refused("qr", lambda x: mt.linalg.qr(x, "half"), DomainError, "'half' was given")
_row(
    "qr",
    lambda x: _times(mt.linalg.qr(varied(x))),
    lambda x: _times(np.linalg.qr(varied(x))),
    *OBLONG,
    ((4, 2),),
)
