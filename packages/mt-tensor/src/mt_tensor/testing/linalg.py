"""Samples of linear algebra: inverses and equations, determinants, factors, norms of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.errors import DTypeError, IndexingError, LinAlgError, ShapeError
from mt_tensor.testing.specs import Array, BadCall, Shapes, row

SQUARE: tuple[Shapes, ...] = (((2, 2),), ((1, 1),), ((3, 3),), ((2, 1, 3, 3),))
OBLONG: tuple[Shapes, ...] = (((2, 3),), ((3, 2),), ((2, 2),), ((2, 1, 3),))


def _positive(x: Any) -> Any:
    """Return x x^T + 1, symmetric and positive definite, of a tensor."""
    return x @ x.mT + (x.sum(-1) * 0 + 1).diag_embed()


def _positive_array(x: Array) -> Any:
    return x @ np.swapaxes(x, -1, -2) + np.eye(x.shape[-2])


def _leaning(x: Any) -> Any:
    """Return a matrix that can be inverted, and is not symmetric."""
    return _positive(x) + x.triu(1)


def _leaning_array(x: Array) -> Any:
    return _positive_array(x) + np.triu(x, 1)


def _solved_triangle(x: Array, y: Array, upper: bool, unit: bool, left: bool) -> Any:
    a = (np.triu if upper else np.tril)(_leaning_array(x))
    if unit:
        a = np.where(np.eye(a.shape[-1]) == 1, 1, a)
    return np.linalg.inv(a) @ y if left else y @ np.linalg.inv(a)


def _recomposed(found: Any, function: Callable[..., Any]) -> Any:
    values, vectors = found
    return (vectors * function(values)[..., None, :]) @ vectors.swapaxes(-1, -2)


def _varied(x: Any) -> Any:
    """Return a matrix with singular values far from each other, and from 0."""
    return x * x - x


def _swapped(found: Any) -> Any:
    """Return U Vh, the nearest matrix with orthonormal rows or columns, stretched by S."""
    u, s, vh = found
    return u @ vh * (1 + s[..., :1, None])


def _whole(found: Any, x: Any) -> Any:
    """Return the product of full factors."""
    u, s, vh = found
    k = s.shape[-1]
    return u[..., :k] * s[..., None, :] @ vh[..., :k, :] + 0 * (u @ x @ vh)


def _times(found: Any) -> Any:
    """Return what does not vary with the signs of the factors, and needs both."""
    q, r = found
    return (q * q) @ (r * r)


def _not_square(name: str) -> BadCall:
    call = lambda x: getattr(mt.linalg, name)(x)  # noqa: E731, PLW0108 - or another's
    return (call, ShapeError, "takes square matrices")


def _not_floating(name: str) -> BadCall:
    return (lambda x: getattr(mt.linalg, name)(x.long()), DTypeError, "float64; int64 was given")


# --- Inverses and equations ---------------------------------------------------------------------

_SINGULAR: BadCall = (lambda x: mt.linalg.inv(x[:, :1] * x[:, :1].T * 0), LinAlgError, "singular")
row(
    "inverse",
    lambda x: _leaning(x).inverse(),
    lambda x: np.linalg.inv(_leaning_array(x)),
    *SQUARE,
    errors=(_SINGULAR, _not_square("inv"), _not_floating("inv")),
    dtypes="wide float",
)
row(
    "inv",
    lambda x: mt.linalg.inv(_leaning(x)),
    lambda x: np.linalg.inv(_leaning_array(x)),
    ((2, 2),),
    dtypes="wide float",
)
_FLAT: tuple[Shapes, ...] = (((2, 3),), ((3, 2),), ((2, 2),), ((2, 0),))
row(
    "pinverse",
    lambda x: _varied(x).pinverse(),
    lambda x: np.linalg.pinv(_varied(x)),
    *_FLAT,
    dtypes="wide float",
)
row(
    "pinv",
    lambda x: mt.linalg.pinv(_varied(x), rtol=1e-9),
    lambda x: np.linalg.pinv(_varied(x)),
    *_FLAT,
    errors=((lambda x: mt.linalg.pinv(x[0]), ShapeError, "takes matrices"),),
    dtypes="wide float",
)
row(
    "solve",
    lambda x, y: mt.linalg.solve(_leaning(x), y),
    lambda x, y: np.linalg.solve(_leaning_array(x), y),
    ((2, 2), (2, 3)),
    ((3, 3), (3,)),
    ((2, 1, 2, 2), (3, 2, 1)),
    errors=(
        (lambda x: mt.linalg.solve(x @ x.T, x.T), ShapeError, r"A X = B cannot have A of"),
        (lambda x: mt.linalg.solve(x @ x.T, x.double()), DTypeError, "float32 and float64"),
        (lambda x: mt.linalg.solve(x @ x.T * 0, x), LinAlgError, "singular"),
        (lambda x: mt.linalg.solve(x, x), ShapeError, "takes square matrices"),
        (lambda x: mt.linalg.solve(x @ x.T, x[:, 0], left=False), ShapeError, "X A = B cannot"),
    ),
    dtypes="wide float",
)
row(
    "solve",
    lambda x, y: mt.linalg.solve(_leaning(x), y, left=False),
    lambda x, y: y @ np.linalg.inv(_leaning_array(x)),
    ((2, 2), (3, 2)),
    dtypes="wide float",
)
row(
    "solve",
    lambda x, y: mt.linalg.solve(_leaning(x), y),
    lambda x, y: np.linalg.solve(_leaning_array(x), y[..., None])[..., 0],
    ((3, 2, 2), (3, 2)),
    dtypes="wide float",
)
for _upper, _unit, _left in ((True, False, True), (False, True, True), (False, False, False)):
    row(
        "solve_triangular",
        lambda x, y, up=_upper, unit=_unit, left=_left: mt.linalg.solve_triangular(
            _leaning(x), y, upper=up, unitriangular=unit, left=left
        ),
        lambda x, y, up=_upper, unit=_unit, left=_left: _solved_triangle(x, y, up, unit, left),
        ((2, 2), (2, 2)),
        ((2, 3, 3), (3, 3)),
        errors=(
            (
                lambda x, up=_upper: mt.linalg.solve_triangular(x, x, upper=up),
                ShapeError,
                "takes square matrices",
            ),
        ),
        dtypes="wide float",
    )


# --- Determinants -------------------------------------------------------------------------------

row(
    "det",
    lambda x: _leaning(x).det(),
    lambda x: np.linalg.det(_leaning_array(x)),
    *SQUARE,
    errors=(_not_square("det"), _not_floating("det")),
    dtypes="wide float",
)
_OF_NOTHING = "it takes float16 of no elements"
row(
    "det",
    lambda x: x.det(),
    lambda x: np.ones(x.shape[:-2]) + x.sum((-1, -2)),
    ((0, 0),),
    ((2, 0, 0),),
    dtypes="wide float",
    torch=_OF_NOTHING,
)
row(
    "solve",
    mt.linalg.solve,
    lambda x, y: y + 0 * x.sum(),
    ((0, 0), (0, 2)),
    dtypes="wide float",
    torch=_OF_NOTHING,
)
row(
    "slogdet",
    lambda x: (-_leaning(x)).slogdet().logabsdet,
    lambda x: np.linalg.slogdet(_leaning_array(x))[1],
    *SQUARE,
    errors=(_not_square("slogdet"), _not_floating("slogdet")),
    dtypes="wide float",
)
row(
    "slogdet",
    lambda x: mt.linalg.slogdet(-_leaning(x)).sign,
    lambda x: np.linalg.slogdet(-_leaning_array(x))[0],
    *SQUARE,
    differentiable=False,
    dtypes="wide float",
)
row(
    "logdet",
    lambda x: _leaning(x).logdet(),
    lambda x: np.log(np.linalg.det(_leaning_array(x))),
    *SQUARE,
    errors=((lambda x: x.logdet(), ShapeError, "takes square matrices"),),
    dtypes="wide float",
)

# --- Factors ------------------------------------------------------------------------------------

for _upper in (False, True):
    row(
        "cholesky",
        lambda x, up=_upper: mt.linalg.cholesky(_positive(x), upper=up),
        lambda x, up=_upper: (
            np.swapaxes(np.linalg.cholesky(_positive_array(x)), -1, -2)
            if up
            else np.linalg.cholesky(_positive_array(x))
        ),
        *SQUARE,
        errors=(
            (lambda x: mt.linalg.cholesky(-x @ x.T), LinAlgError, "not positive definite"),
            _not_square("cholesky"),
            _not_floating("cholesky"),
        ),
        dtypes="wide float",
    )
row(
    "eigh",
    # The signs of eigenvectors are open: only what does not vary with them is compared.
    lambda x: _recomposed(mt.linalg.eigh(_positive(x)), lambda values: values.exp()),
    lambda x: _recomposed(np.linalg.eigh(_positive_array(x)), np.exp),
    ((2, 2),),
    ((2, 3, 2),),
    errors=(
        _not_square("eigh"),
        _not_floating("eigh"),
        (lambda x: mt.linalg.eigh(x @ x.T, "M"), ValueError, "'M' was given"),
    ),
    dtypes="wide float",
)
for _triangle in ("L", "U"):
    row(
        "eigvalsh",
        lambda x, uplo=_triangle: mt.linalg.eigvalsh(_leaning(x), uplo),
        lambda x, uplo=_triangle: np.linalg.eigvalsh(_leaning_array(x), uplo),
        ((2, 2),),
        ((1, 1),),
        differentiable=False,
        errors=(_not_square("eigvalsh"),),
        dtypes="wide float",
    )
row(
    "eigvalsh",
    lambda x: mt.linalg.eigvalsh(_positive(x)),
    lambda x: np.linalg.eigvalsh(_positive_array(x)),
    ((2, 2),),
    ((2, 2, 2),),
    dtypes="wide float",
)


row(
    "svd",
    lambda x: _swapped(mt.linalg.svd(_varied(x), full_matrices=False)),
    lambda x: _swapped(np.linalg.svd(_varied(x), full_matrices=False)),
    ((2, 3),),
    ((3, 2),),
    ((2, 2),),
    ((2, 2, 3),),
    errors=(
        (lambda x: mt.linalg.svd(x[0]), ShapeError, "takes matrices"),
        _not_floating("svd"),
    ),
    dtypes="wide float",
)
row(
    "svd",
    lambda x: _whole(mt.linalg.svd(x), x),
    lambda x: x,
    *OBLONG,
    differentiable=False,
    dtypes="wide float",
)
row(
    "svdvals",
    lambda x: mt.linalg.svdvals(_varied(x)),
    lambda x: np.linalg.svd(_varied(x), compute_uv=False),
    *OBLONG,
    errors=(_not_floating("svdvals"),),
    dtypes="wide float",
)


for _mode in ("reduced", "complete"):
    row(
        "qr",
        lambda x, mode=_mode: mt.linalg.qr(_varied(x), mode)[1].abs(),
        lambda x, mode=_mode: abs(np.linalg.qr(_varied(x), mode)[1]),
        *OBLONG,
        ((4, 2),),
        differentiable=False,
        errors=(
            (lambda x, mode=_mode: mt.linalg.qr(x[0], mode), ShapeError, "takes matrices"),
            (lambda x: mt.linalg.qr(x, "half"), ValueError, "'half' was given"),
        ),
        dtypes="wide float",
    )
row(
    "qr",
    lambda x: _times(mt.linalg.qr(_varied(x))),
    lambda x: _times(np.linalg.qr(_varied(x))),
    *OBLONG,
    ((4, 2),),
    dtypes="wide float",
)


# --- Norms, products and parts ------------------------------------------------------------------

for _ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    row(
        "matrix_norm",
        lambda x, o=_ord: mt.linalg.matrix_norm(_varied(x), o, (-1, 0), keepdim=True),
        lambda x, o=_ord: np.linalg.norm(_varied(x), o, (-1, 0), keepdims=True),
        ((2, 3),),
        ((3, 2),),
        ((3, 1, 2),),
        errors=(
            (lambda x: mt.linalg.matrix_norm(x, 3), ValueError, "3 was given"),
            (lambda x: mt.linalg.matrix_norm(x[0]), ShapeError, "takes matrices"),
            (lambda x: mt.linalg.matrix_norm(x, dim=(0, -2)), IndexingError, "twice"),
            (lambda x: mt.linalg.matrix_norm(x, dim=0), ShapeError, "two dimensions"),
        ),
        dtypes="wide float" if _ord in ("nuc", 2, -2) else "float",
    )
row(
    "matrix_norm",
    lambda x: mt.linalg.matrix_norm(x, np.inf),
    lambda x: x.sum((-1, -2)),
    ((0, 3),),
    ((2, 3, 0),),
    dtypes="float",
    torch="of no elements it returns a constant",
)
row(
    "vector_norm",
    lambda x: mt.linalg.vector_norm(x, 3, -1, keepdim=True),
    lambda x: np.linalg.norm(x, 3, -1, keepdims=True),
    *OBLONG,
    ((4,),),
    errors=(
        (lambda x: mt.linalg.vector_norm(x, "fro"), TypeError, "'fro' was given"),  # type: ignore[arg-type]
        (lambda x: mt.linalg.vector_norm(x[:0], np.inf), ShapeError, "no elements"),
    ),
    dtypes="float",
)
row(
    "vector_norm",
    lambda x: mt.linalg.vector_norm(x, dtype="float64").to(x.dtype),
    lambda x: np.linalg.norm(x.ravel()),
    *OBLONG,
    ((0,),),
    dtypes="float",
    torch=lambda x: mt.linalg.vector_norm(x, 2),
)
row(
    "norm",
    lambda x: mt.linalg.norm(_varied(x), 2),
    lambda x: np.linalg.norm(_varied(x), 2),
    ((2, 3),),
    errors=(
        (lambda x: mt.linalg.norm(x[None], 2), ShapeError, "one dimension or two"),
        (lambda x: mt.linalg.norm(x.long()), DTypeError, "int64 was given"),
    ),
    dtypes="wide float",
)
row(
    "norm",
    lambda x: mt.linalg.norm(x, 3),
    lambda x: np.linalg.norm(x, 3),
    ((3,),),
    dtypes="float",
)
row(
    "norm",
    lambda x: mt.linalg.norm(x, 1, 0),
    lambda x: np.linalg.norm(x, 1, 0),
    ((2, 3),),
    ((3, 1, 2),),
    dtypes="float",
)
row(
    "vecdot",
    lambda x, y: mt.linalg.vecdot(x, y, dim=0),
    lambda x, y: (x * y).sum(0),
    ((2, 3), (2, 3)),
    ((3,), (3,)),
    ((2, 3), (2, 1)),
    errors=((lambda x: mt.linalg.vecdot(x.long(), x.long()), DTypeError, "int64 was given"),),
    dtypes="float",
)
row(
    "diagonal",
    lambda x: mt.linalg.diagonal(x, offset=1),
    lambda x: np.diagonal(x, 1, -2, -1),
    *OBLONG,
    errors=((lambda x: mt.linalg.diagonal(x, dim2=0), IndexingError, "are the same"),),
)
row(
    "vander",
    lambda x: mt.linalg.vander(x, N=3),
    lambda x: x[..., None] ** np.arange(3),
    ((4,),),
    ((2, 3),),
    errors=(
        (lambda x: mt.linalg.vander(x, N=1), ShapeError, "1 was given"),
        (lambda x: mt.linalg.vander(x.sum()), ShapeError, "at least one dimension"),
    ),
    dtypes="sum",
)
for _power in (-1, -2):
    row(
        "matrix_power",
        lambda x, n=_power: _leaning(x).matrix_power(n),
        lambda x, n=_power: np.linalg.matrix_power(_leaning_array(x), n),
        ((2, 2),),
        ((1, 3, 3),),
        errors=((lambda x: (x @ x.T * 0).matrix_power(-1), LinAlgError, "singular"),),
        dtypes="wide float",
    )
