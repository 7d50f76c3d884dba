"""Samples of linear algebra: inverses and equations, determinants, norms, and factors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.errors import LinAlgError
from mt_tensor.testing.specs import bad_call, row, single

_row = partial(row, dtypes="wide float")
"""Add a row of an operation on float32 and float64."""

SQUARE = single((2, 2), (1, 1), (3, 3), (2, 1, 3, 3))
OBLONG = single((2, 3), (3, 2), (2, 2), (2, 1, 3))

# --- Matrices to compute with -------------------------------------------------------------------


def positive(x: Any) -> Any:
    """Return `x x^T + I`, which is symmetric and positive definite."""
    return x @ x.mT + (x.sum(-1) * 0 + 1).diag_embed()


def leaning(x: Any) -> Any:
    """Return an invertible matrix that is not symmetric."""
    return positive(x) + x.triu(1)


def varied(x: Any) -> Any:
    """Return a matrix whose singular values differ clearly from each other and from 0."""
    return x * x - x


# --- Inverses and equations ---------------------------------------------------------------------

_row("inverse", lambda x: leaning(x).inverse(), *SQUARE)
bad_call("inverse", lambda x: mt.linalg.inv(x[:, :1] * x[:, :1].T * 0), LinAlgError, "singular")
_row("inv", lambda x: mt.linalg.inv(leaning(x)), ((2, 2),))
_FLAT = single((2, 3), (3, 2), (2, 2), (2, 0))
_row("pinverse", lambda x: varied(x).pinverse(), *_FLAT)
_row("pinv", lambda x: mt.linalg.pinv(varied(x), rtol=1e-9), *_FLAT)
_row(
    "solve",
    lambda x, y: mt.linalg.solve(leaning(x), y),
    ((2, 2), (2, 3)),
    ((3, 3), (3,)),
    ((2, 1, 2, 2), (3, 2, 1)),
)
bad_call("solve", lambda x: mt.linalg.solve(x @ x.T * 0, x), LinAlgError, "singular")
_row("solve", lambda x, y: mt.linalg.solve(leaning(x), y, left=False), ((2, 2), (3, 2)))
_row("solve", lambda x, vectors: mt.linalg.solve(leaning(x), vectors), ((3, 2, 2), (3, 2)))
for _upper, _unit, _left in ((True, False, True), (False, True, True), (False, False, False)):
    _row(
        "solve_triangular",
        lambda x, y, up=_upper, unit=_unit, left=_left: mt.linalg.solve_triangular(
            leaning(x), y, upper=up, unitriangular=unit, left=left
        ),
        ((2, 2), (2, 2)),
        ((2, 3, 3), (3, 3)),
    )
_row(
    "lu_solve",
    lambda x, y: mt.linalg.lu_solve(*mt.linalg.lu_factor(leaning(x)), y),
    ((2, 2), (2, 3)),
)
for _left, _adjoint in ((True, True), (False, False), (False, True)):
    _row(
        "lu_solve",
        lambda x, y, left=_left, adjoint=_adjoint: mt.linalg.lu_solve(
            *mt.linalg.lu_factor(leaning(x)), y, left=left, adjoint=adjoint
        ),
        ((2, 2), (2, 2)),
        ((2, 3, 3), (3, 3)),
    )
bad_call("lu_factor", lambda x: mt.linalg.lu_factor(x[:, :2] * 0), LinAlgError, "singular")
_row(
    "lstsq",
    lambda x, y: mt.linalg.lstsq(varied(x), y)[0],
    ((3, 2), (3, 2)),
    ((2, 3), (2,)),
    ((2, 4, 2), (2, 4)),
    ((2, 2, 2), (2, 2, 3)),
)
_row(
    "lstsq",
    lambda x, y: mt.linalg.lstsq(varied(x), y, driver="gels")[1],
    ((3, 2), (3, 2)),
    ((2, 4, 2), (2, 4, 1)),
)
bad_call(
    "lstsq",
    lambda x: mt.linalg.lstsq(x[:, :1] * x[:1], x, driver="gels"),
    LinAlgError,
    "full rank",
)


# --- Determinants -------------------------------------------------------------------------------

_row("det", lambda x: leaning(x).det(), *SQUARE)
_OF_NOTHING = "torch accepts float16 if there are no elements"
_row("det", lambda x: x.det(), *single((0, 0), (2, 0, 0)), torch=_OF_NOTHING)
_row("solve", mt.linalg.solve, ((0, 0), (0, 2)), torch=_OF_NOTHING)
_row("slogdet", lambda x: (-leaning(x)).slogdet().logabsdet, *SQUARE)
_row("slogdet", lambda x: mt.linalg.slogdet(-leaning(x)).sign, *SQUARE, differentiable=False)
_row("logdet", lambda x: leaning(x).logdet(), *SQUARE)

# --- Norms, products and parts ------------------------------------------------------------------

for _ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    row(
        "matrix_norm",
        lambda x, o=_ord: mt.linalg.matrix_norm(varied(x), o, (-1, 0), keepdim=True),
        *single((2, 3), (3, 2), (3, 1, 2)),
        dtypes="wide float" if _ord in ("nuc", 2, -2) else "float",
    )
row(
    "matrix_norm",
    lambda x: mt.linalg.matrix_norm(x, np.inf),
    *single((0, 3), (2, 3, 0)),
    dtypes="float",
    torch="torch returns a constant if there are no elements",
)
row(
    "vector_norm",
    lambda x: mt.linalg.vector_norm(x, 3, -1, keepdim=True),
    *OBLONG,
    ((4,),),
    dtypes="float",
)
row(
    "vector_norm",
    lambda x: mt.linalg.vector_norm(x, dtype="float64").to(x.dtype),
    *OBLONG,
    ((0,),),
    dtypes="float",
    torch=lambda x: mt.linalg.vector_norm(x, 2),
)
_row("norm", lambda x: mt.linalg.norm(varied(x), 2), ((2, 3),))
row("norm", lambda x: mt.linalg.norm(x, 3), ((3,),), dtypes="float")
row("norm", lambda x: mt.linalg.norm(x, 1, 0), *single((2, 3), (3, 1, 2)), dtypes="float")
row(
    "vecdot",
    lambda x, y: mt.linalg.vecdot(x, y, dim=0),
    ((2, 3), (2, 3)),
    ((3,), (3,)),
    ((2, 3), (2, 1)),
    dtypes="float",
)
row("diagonal", lambda x: mt.linalg.diagonal(x, offset=1), *OBLONG)
row("vander", lambda x: mt.linalg.vander(x, N=3), *single((4,), (2, 3)), dtypes="sum")
for _power in (-1, -2):
    _row("matrix_power", lambda x, n=_power: leaning(x).matrix_power(n), *single((2, 2), (1, 3, 3)))
bad_call("matrix_power", lambda x: (x @ x.T * 0).matrix_power(-1), LinAlgError, "singular")


# --- Factors --------------------------------------------------------------------------------------


def _recomposed(found: Any, function: Callable[..., Any]) -> Any:
    values, vectors = found
    return (vectors * function(values)[..., None, :]) @ vectors.swapaxes(-1, -2)


def _swapped(found: Any) -> Any:
    """Return U Vh, which does not depend on signs, times 1 plus the largest singular value."""
    u, s, vh = found
    return u @ vh * (1 + s[..., :1, None])


def _from_full(found: Any, x: Any) -> Any:
    """Return the product of the factors; the shapes of full U and Vh are checked, too."""
    u, s, vh = found
    k = s.shape[-1]
    return u[..., :k] * s[..., None, :] @ vh[..., :k, :] + 0 * (u @ x @ vh)


def _times(found: Any) -> Any:
    """Return a product of both factors that does not depend on their signs."""
    q, r = found
    return (q * q) @ (r * r)


for _upper in (False, True):
    _row("cholesky", lambda x, up=_upper: mt.linalg.cholesky(positive(x), upper=up), *SQUARE)
bad_call("cholesky", lambda x: mt.linalg.cholesky(-x @ x.T), LinAlgError, "not positive definite")
_row(
    "eigh",
    # The signs of eigenvectors are arbitrary: compare a product that does not depend on them.
    lambda x: _recomposed(mt.linalg.eigh(positive(x)), lambda values: values.exp()),
    *single((2, 2), (2, 3, 2)),
)
for _triangle in ("L", "U"):
    _row(
        "eigvalsh",
        lambda x, uplo=_triangle: mt.linalg.eigvalsh(leaning(x), uplo),
        *single((2, 2), (1, 1)),
        differentiable=False,
    )
_row("eigvalsh", lambda x: mt.linalg.eigvalsh(positive(x)), *single((2, 2), (2, 2, 2)))


_row(
    "svd",
    lambda x: _swapped(mt.linalg.svd(varied(x), full_matrices=False)),
    *single((2, 3), (3, 2), (2, 2), (2, 2, 3)),
)
_row("svd", lambda x: _from_full(mt.linalg.svd(x), x), *OBLONG, differentiable=False)
_row("svdvals", lambda x: mt.linalg.svdvals(varied(x)), *OBLONG)

_row(
    "matrix_rank",
    lambda x: mt.linalg.matrix_rank(x[..., :1] * x[..., :1, :]).to(x.dtype),
    *OBLONG,
    differentiable=False,
)
_row(
    "matrix_rank",
    lambda x: mt.linalg.matrix_rank(positive(x), hermitian=True).to(x.dtype),
    *SQUARE,
    differentiable=False,
)


for _mode in ("reduced", "complete"):
    _row(
        "qr",
        lambda x, mode=_mode: mt.linalg.qr(varied(x), mode)[1].abs(),
        *OBLONG,
        ((4, 2),),
        differentiable=False,
    )
_row("qr", lambda x: _times(mt.linalg.qr(varied(x))), *OBLONG, ((4, 2),))


def _of_three(found: Any) -> Any:
    """Return a product that depends on each of the factors P, L and U."""
    p, lower, upper = found
    return p @ (lower * lower) @ (upper * upper)


_WIDE_AND_TALL = (*OBLONG, ((4, 2),), ((2, 2, 2),))
_row("lu", lambda x: _of_three(mt.linalg.lu(varied(x))), *_WIDE_AND_TALL)
_row("lu_factor", lambda x: mt.linalg.lu_factor(varied(x))[0], *_WIDE_AND_TALL)
_row("lu_unpack", lambda x: _of_three(mt.lu_unpack(*mt.linalg.lu_factor(varied(x)))), *OBLONG)
