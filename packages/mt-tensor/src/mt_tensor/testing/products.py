"""Samples of products of vectors and matrices, of distances and covariances."""

from __future__ import annotations

from functools import partial

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import DomainError
from mt_tensor.testing.specs import Shapes, at, bad_call, row, single

_row = partial(row, dtypes="number")
"""Add a row of a product that is not defined for bools."""

# --- Products -----------------------------------------------------------------------------------

row(
    "matmul",
    lambda a, b: a @ b,
    ((2, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 1, 2, 3), (4, 3, 2)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
    dtypes="number",
)
_row("matmul", lambda a, b: a.mT @ b, ((3, 2), (3, 4)))

_VECTORS: tuple[Shapes, ...] = (((3,), (3,)), ((1,), (1,)), ((0,), (0,)))
for _name in ("dot", "vdot"):
    _row(_name, lambda x, y, n=_name: getattr(x, n)(y), *_VECTORS)
_row("mv", lambda x, y: x.mv(y), ((2, 3), (3,)), ((0, 3), (3,)))
_row("mm", lambda x, y: x.mm(y), ((2, 3), (3, 2)), ((2, 0), (0, 3)))
_row("bmm", lambda x, y: x.bmm(y), ((2, 1, 3), (2, 3, 2)), ((0, 2, 3), (0, 3, 2)))
for _name in ("outer", "ger"):
    row(_name, lambda x, y, n=_name: getattr(x, n)(y), ((3,), (2,)), ((0,), (2,)))
_row("inner", lambda x, y: x.inner(y), *_VECTORS, ((2, 3), (4, 3)), ((2, 1, 3), (3,)))
row("inner", lambda number, y: number.inner(y), ((), (2, 2)))
row("kron", lambda x, y: x.kron(y), ((2, 3), (2, 2)), ((2,), (2, 1, 3)), ((), (3,)))
_row("cross", lambda x, y: x.cross(y, -1), ((2, 3), (2, 3)), ((1, 3), (4, 3)))
_row("cross", lambda x, y: x.cross(y), ((3, 2), (3, 2)))
row(
    "cosine_similarity",
    mt.cosine_similarity,
    ((2, 3), (2, 3)),
    ((4, 3), (1, 3)),
    ((2, 3, 2), (2, 3, 2)),
    dtypes="float",
    oracle=lambda x, y: (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1)),
)
row("trace", lambda x: x.trace(), *single((3, 3), (2, 4), (0, 2)), dtypes="sum of numbers")
for _power in (0, 1, 2, 5):
    row(
        "matrix_power",
        lambda x, n=_power: (x * 0.5).matrix_power(n),
        *single((2, 2), (3, 2, 2)),
        dtypes="real",
    )
_row(
    "multi_dot",
    lambda a, b, c, d: mt.linalg.multi_dot([a, b, c, d]),
    ((2, 3), (3, 1), (1, 4), (4, 2)),
    ((3,), (3, 4), (4, 2), (2,)),
)
_row("chain_matmul", mt.chain_matmul, ((2, 3), (3, 2)))
_row("tensordot", lambda x, y: mt.tensordot(x, y, ([0, -1], [1, 0])), ((2, 4, 3), (3, 2)))
for _count in (0, 1, 2):
    row(
        "tensordot",
        lambda x, y, n=_count: mt.tensordot(x, y, n),
        ((3, 2, 2), (2, 2, 2)),
        dtypes="number" if _count else "same",
    )
_EQUATIONS: dict[str, tuple[Shapes, ...]] = {
    "ij,jk->ik": (((2, 3), (3, 4)), ((2, 0), (0, 4))),
    "ij,kj": (((2, 3), (4, 3)),),
    "bij,bjk->bki": (((2, 3, 2), (2, 2, 4)),),
    "...ij,...j->...i": (((2, 3, 2), (2, 2)), ((3, 2), (4, 2))),
    "i...->...": (((2, 3),), ((3,),)),
    "ii": (((3, 3),),),
    "iij->ji": (((2, 2, 3),),),
    "i,j,k->kij": (((2,), (3,), (2,)),),
    "ij,jk,kl,lm->im": (((2, 3), (3, 1), (1, 4), (4, 2)),),
    "ij,ij,ij->i": (((2, 3), (2, 3), (2, 3)),),
    "bhqd,bhkd->bhqk": (((1, 2, 3, 2), (1, 2, 2, 2)),),
    "Ab,bA": (((2, 3), (3, 2)),),
    "ab,cd->": (((2, 3), (1, 2)),),
    ",i->i": (((), (3,)),),
}
_ADDED_UP = ("i...->...", "ii", "ab,cd->")
"""Equations of sums only, for which torch returns int64 for integers, and mt_tensor their dtype."""

_WITHOUT_SUM = ("iij->ji", "i,j,k->kij", ",i->i")
"""Equations without sums, which are also defined for bools."""

for _equation, _shapes in _EQUATIONS.items():
    _kept = lambda *args, e=_equation: mt.einsum(e, *args).to(args[0].dtype)  # noqa: E731
    row(
        "einsum",
        lambda *args, e=_equation: mt.einsum(e, *args),
        *_shapes,
        dtypes="same" if _equation in _WITHOUT_SUM else "number",
        torch=_kept if _equation in _ADDED_UP else None,
    )
row("einsum", lambda x, y: mt.einsum(x, [0, ...], y, [..., 0], [..., 0]), ((2, 3), (3, 2)))

# --- Products, added to something ---------------------------------------------------------------

_WITH_PRODUCTS: dict[str, tuple[Shapes, ...]] = {
    "addmm": (((2, 2), (2, 3), (3, 2)), ((2,), (1, 3), (3, 2))),
    "addmv": (((2,), (2, 3), (3,)), ((), (2, 3), (3,))),
    "addr": (((2, 3), (2,), (3,)), ((3,), (2,), (3,))),
    "baddbmm": (((2, 1, 2), (2, 1, 3), (2, 3, 2)), ((2,), (2, 2, 3), (2, 3, 2))),
    "addbmm": (((1, 2), (2, 1, 3), (2, 3, 2)), ((2,), (2, 2, 3), (2, 3, 2))),
}
for _name, _shapes in _WITH_PRODUCTS.items():
    row(
        _name,
        lambda x, a, b, n=_name: getattr(x, n)(a, b, beta=0.5, alpha=2),
        *_shapes,
        dtypes="float",
    )
    row(
        f"{_name}_",
        lambda x, a, b, n=_name: getattr(x.detach().clone(), f"{n}_")(a.detach(), b.detach()),
        _shapes[0],
        differentiable=False,
        dtypes="same" if _name == "addr" else "number",
    )
row(
    "addmm",
    lambda x, a, b: (x / 0).addmm(a / 1, b / 1, beta=0),
    ((2, 2), (2, 3), (3, 2)),
    differentiable=False,
    dtypes="real",
)

row("vander", mt.vander, *single((3,), (1,), (0,)), dtypes="sum")
row("vander", lambda x: mt.vander(x, 4, increasing=True), ((3,),), dtypes="sum")
_row("cross", mt.linalg.cross, ((2, 3), (2, 3)), ((4, 3), (1, 3)))


# --- Distances ----------------------------------------------------------------------------------


def _length(x: Array, p: float) -> Array:
    return np.asarray(np.linalg.norm(x, p, -1) if x.shape[-1] else x.sum(-1))


def _pairs(x: Array) -> Array:
    first, second = np.triu_indices(len(x), 1)
    return np.asarray(x[first] - x[second])


row("dist", lambda x, y: x.dist(y), ((2, 3), (2, 3)), ((2, 3), (3,)), dtypes="float")
for _p in (1, 2, 3, 1.5, np.inf):
    row(
        "cdist",
        lambda x, y, p=_p: mt.cdist(x, y * y, p),
        ((2, 3), (4, 3)),
        ((2, 1, 2), (3, 2)),
        ((2, 0), (1, 0)),
        ((0, 2), (3, 2)),
        dtypes="float",
        oracle=lambda x, y, p=_p: _length(x[..., :, None, :] - (y * y)[..., None, :, :], p),
    )
    row(
        "pdist",
        lambda x, p=_p: mt.pdist(x * x, p),
        *single((4, 2), (2, 3), (1, 3)),
        dtypes="float",
        oracle=lambda x, p=_p: _length(_pairs(x * x), p),
    )
row(
    "pairwise_distance",
    lambda x, y: mt.pairwise_distance(x + y, y, 3, 0.5, keepdim=True),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    dtypes="real number",
    oracle=lambda x, y: np.linalg.norm(x + 0 * y + 0.5, 3, -1, keepdims=True),
)

# --- Covariance and correlation -----------------------------------------------------------------

row("cov", lambda x: x.cov(), *single((3, 4), (5,), (2, 2)), dtypes="real number")
bad_call("cov", lambda x: x.cov(aweights=-x[0]), DomainError, "must not be negative")
bad_call("cov", lambda x: x.cov(fweights=x[0].long() * 0), DomainError, "must not be zero")
row(
    "cov",
    lambda x, w: x.cov(correction=0, fweights=at(x, [2, 0, 1, 3]), aweights=w * w + 1),
    ((3, 4), (4,)),
    ((4,), (4,)),
    dtypes="float",
)
row("cov", lambda x, w: x.cov(aweights=w * w + 1), ((3, 4), (4,)), dtypes="float")
row("corrcoef", lambda x: (x * x).corrcoef(), *single((3, 4), (5,)), dtypes="real number")
