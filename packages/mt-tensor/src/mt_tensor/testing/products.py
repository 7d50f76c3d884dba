"""Samples of products of vectors and matrices, of distances and covariances."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import DomainError, DTypeError, EquationError, IndexingError, ShapeError
from mt_tensor.testing.specs import Shapes, refused, row, single

_row = partial(row, dtypes="number")
"""A row of a product of numbers, which truth values do not have."""

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
refused("matmul", lambda x: x @ x, ShapeError, r"\(2, 3\) and \(2, 3\): the inner sizes 3 and 2")
refused("matmul", lambda x: x @ x.sum(), ShapeError, "at least one dimension")
refused("matmul", lambda x: (x > 0) @ (x > 0).T, DTypeError, "bool")
refused(
    "matmul",
    lambda x: x.expand(2, 2, 3) @ x.T.expand(3, 3, 2),
    IndexingError,
    r"\(2,\) and \(3,\) do not broadcast",
)
_row("matmul", lambda a, b: a.mT @ b, ((3, 2), (3, 4)))

_VECTORS: tuple[Shapes, ...] = (((3,), (3,)), ((1,), (1,)), ((0,), (0,)))
for _name in ("dot", "vdot"):
    _row(_name, lambda x, y, n=_name: getattr(x, n)(y), *_VECTORS)
    refused(_name, lambda x, n=_name: getattr(x, n)(x), ShapeError, "takes 1-D and 1-D tensors")
    refused(
        _name, lambda x, n=_name: getattr(x[0], n)(x[1, :2]), ShapeError, "sizes 3 and 2 differ"
    )
    refused(_name, lambda x, n=_name: getattr(x[0], n)(1), TypeError, "takes tensors; 1")
_row("mv", lambda x, y: x.mv(y), ((2, 3), (3,)), ((0, 3), (3,)))
refused("mv", lambda x: x.mv(x), ShapeError, r"mv\(\) takes 2-D and 1-D")
_row("mm", lambda x, y: x.mm(y), ((2, 3), (3, 2)), ((2, 0), (0, 3)))
refused("mm", lambda x: x.mm(x[0]), ShapeError, r"mm\(\) takes 2-D and 2-D")
_row("bmm", lambda x, y: x.bmm(y), ((2, 1, 3), (2, 3, 2)), ((0, 2, 3), (0, 3, 2)))
refused("bmm", lambda x: x.bmm(x), ShapeError, "takes 3-D and 3-D")
refused("bmm", lambda x: x[None].bmm(x.T[None].expand(2, 3, 2)), ShapeError, "as many matrices")
for _name in ("outer", "ger"):
    row(_name, lambda x, y, n=_name: getattr(x, n)(y), ((3,), (2,)), ((0,), (2,)))
    refused(_name, lambda x, n=_name: getattr(x, n)(x), ShapeError, "takes 1-D and 1-D")
_row("inner", lambda x, y: x.inner(y), *_VECTORS, ((2, 3), (4, 3)), ((2, 1, 3), (3,)))
refused("inner", lambda x: x.inner(x.T), ShapeError, "last sizes that are equal")
row("inner", lambda number, y: number.inner(y), ((), (2, 2)))
row("kron", lambda x, y: x.kron(y), ((2, 3), (2, 2)), ((2,), (2, 1, 3)), ((), (3,)))
_row("cross", lambda x, y: x.cross(y, -1), ((2, 3), (2, 3)), ((1, 3), (4, 3)))
refused("cross", lambda x: x.cross(x, 0), ShapeError, "needs the size 3 there")
refused("cross", lambda x: x.cross(x[0]), ShapeError, "tensors of one rank")
refused("cross", lambda x: x[:, :2].cross(x[:, :2]), ShapeError, "a dimension of size 3")
refused("cross", lambda x: x.cross(x, 2), IndexingError, "dimension 2 is out of range")
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
refused(
    "cosine_similarity",
    lambda x: mt.cosine_similarity(x, x, 2),
    IndexingError,
    "dimension 2 is out of range",
)
refused("cosine_similarity", lambda x: x.inner(None), TypeError, "takes tensors; None")
row("trace", lambda x: x.trace(), *single((3, 3), (2, 4), (0, 2)), dtypes="sum of numbers")
refused("trace", lambda x: x[0].trace(), ShapeError, "takes 2-D tensors")
refused("trace", lambda x: (x > 0).trace(), DTypeError, "not defined on bool")
for _power in (0, 1, 2, 5):
    row(
        "matrix_power",
        lambda x, n=_power: (x * 0.5).matrix_power(n),
        *single((2, 2), (3, 2, 2)),
        dtypes="real",
    )
refused("matrix_power", lambda x: x.matrix_power(2), ShapeError, "takes square matrices")
refused(
    "matrix_power", lambda x: x[:, :2].matrix_power(1.5), TypeError, "n must be an integer; 1.5"
)
_row(
    "multi_dot",
    lambda a, b, c, d: mt.linalg.multi_dot([a, b, c, d]),
    ((2, 3), (3, 1), (1, 4), (4, 2)),
    ((3,), (3, 4), (4, 2), (2,)),
)
refused("multi_dot", lambda x: mt.linalg.multi_dot([x]), ShapeError, "at least two tensors")
refused("multi_dot", lambda x: mt.linalg.multi_dot([x, x]), ShapeError, "inner sizes differ")
refused(
    "multi_dot", lambda x: mt.linalg.multi_dot([x, x[0], x]), ShapeError, "1-D only at the ends"
)
_row("chain_matmul", mt.chain_matmul, ((2, 3), (3, 2)))
_row("tensordot", lambda x, y: mt.tensordot(x, y, ([0, -1], [1, 0])), ((2, 4, 3), (3, 2)))
refused("tensordot", lambda x: mt.tensordot(x, x, 1), ShapeError, "pairs dimension 1")
refused("tensordot", lambda x: mt.tensordot(x, x, 3), ShapeError, "cannot sum over 3")
refused("tensordot", lambda x: mt.tensordot(x, x, ([0], [0, 1])), ShapeError, "the numbers in")
refused("tensordot", lambda x: mt.tensordot(x, x, "ij"), ShapeError, "got 'ij'")
refused("tensordot", lambda x: mt.tensordot(x, x, ([0, 0], [0, 1])), IndexingError, "not distinct")
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
"""Equations that only add up: there torch makes int64 of all integers, and here they stay."""

_WITHOUT_SUM = ("iij->ji", "i,j,k->kij", ",i->i")
"""Equations that add up nothing, which truth values have, too."""

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
refused("einsum", lambda x: mt.einsum("ij,jk", x), EquationError, "1 tensor.s. and labels for 2")
refused("einsum", lambda x: mt.einsum("ijk", x), EquationError, r"3 label\(s\), but shape \(2, 3\)")
refused("einsum", lambda x: mt.einsum("i", x), EquationError, r"1 label\(s\), but shape \(2, 3\)")
refused("einsum", lambda x: mt.einsum("ij,jk", x, x), ShapeError, "size 2 for 'j'")
refused("einsum", lambda x: mt.einsum("ii", x), ShapeError, "size 3 for 'i'")
refused("einsum", lambda x: mt.einsum("ii", x[:1]), ShapeError, "repeats 'i'")
refused("einsum", lambda x: mt.einsum("ij->k", x), EquationError, "no operand has the output's 'k'")
refused("einsum", lambda x: mt.einsum("ij->ii", x), EquationError, "names 'i' more than once")
refused("einsum", lambda x: mt.einsum("i1", x), EquationError, "holds '1'")
refused("einsum", lambda x: mt.einsum("i..j", x), EquationError, "holds '.'")
refused("einsum", lambda x: mt.einsum("...i...", x), EquationError, "more than one ellipsis")
refused("einsum", lambda x: mt.einsum("ij->......", x), EquationError, "more than one ellipsis")
refused("einsum", lambda x: mt.einsum("ij", 1), TypeError, "takes tensors; 1")
refused("einsum", lambda x: mt.einsum(x, "ij"), TypeError, "'ij' was given as a list")
refused("einsum", lambda x: mt.einsum(x, [0, 1.5]), TypeError, "1.5 was given")
refused("einsum", lambda x: mt.einsum("ij->i", x > 0), DTypeError, "cannot add them up")

# --- Products, added to something ---------------------------------------------------------------

_WITH_PRODUCTS: dict[str, tuple[Callable[..., Any], tuple[Shapes, ...]]] = {
    "addmm": (np.matmul, (((2, 2), (2, 3), (3, 2)), ((2,), (1, 3), (3, 2)))),
    "addmv": (np.matmul, (((2,), (2, 3), (3,)), ((), (2, 3), (3,)))),
    "addr": (np.outer, (((2, 3), (2,), (3,)), ((3,), (2,), (3,)))),
    "baddbmm": (np.matmul, (((2, 1, 2), (2, 1, 3), (2, 3, 2)), ((2,), (2, 2, 3), (2, 3, 2)))),
    "addbmm": (
        lambda a, b: np.matmul(a, b).sum(0),
        (((1, 2), (2, 1, 3), (2, 3, 2)), ((2,), (2, 2, 3), (2, 3, 2))),
    ),
}
for _name, (_product, _shapes) in _WITH_PRODUCTS.items():
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
refused("addmm", lambda x: x.addmm(x, x), ShapeError, "sizes 3 and 2 differ")
refused("addmm", lambda x: x.addmm(x, x.T), ShapeError, "expand")
refused("addmm", lambda x: x.long().addmm(x.long(), x.long(), beta=0.5), ShapeError, "differ")
refused(
    "addmm", lambda x: x[0, :2].long().addmm(x.long(), x.T.long(), beta=0.5), DTypeError, "beta=0.5"
)
refused(
    "addmm", lambda x: x[0, :2].addmm(x, x.T, alpha="2"), TypeError, "alpha must be a number; '2'"
)

row("vander", mt.vander, *single((3,), (1,), (0,)), dtypes="sum")
refused("vander", mt.vander, ShapeError, "takes a 1-D tensor")
refused("vander", lambda x: mt.vander(x[0], -1), DomainError, "-1 was given")
row("vander", lambda x: mt.vander(x, 4, increasing=True), ((3,),), dtypes="sum")
_row("cross", mt.linalg.cross, ((2, 3), (2, 3)), ((4, 3), (1, 3)))


# --- Distances ----------------------------------------------------------------------------------


def _length(x: Array, p: float) -> Array:
    return np.asarray(np.linalg.norm(x, p, -1) if x.shape[-1] else x.sum(-1))


def _pairs(x: Array) -> Array:
    first, second = np.triu_indices(len(x), 1)
    return np.asarray(x[first] - x[second])


row("dist", lambda x, y: x.dist(y), ((2, 3), (2, 3)), ((2, 3), (3,)), dtypes="float")
refused("dist", lambda x: x.long().dist(x.long()), DTypeError, "int64 was given")
refused("dist", lambda x: x[:0].dist(x[:0], np.inf), IndexingError, "no elements")
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
refused("cdist", lambda x: mt.cdist(x, x.T), ShapeError, r"\(2, 3\) and \(3, 2\)")
refused("cdist", lambda x: mt.cdist(x[0], x), ShapeError, r"\(3,\) and \(2, 3\)")
refused("cdist", lambda x: mt.cdist(x, x.double()), DTypeError, "one dtype")
refused("cdist", lambda x: mt.cdist(x.long(), x.long()), DTypeError, "int64 was given")
refused("cdist", lambda x: mt.cdist(x, x, -1), DomainError, "-1 was given")
refused("cdist", lambda x: mt.cdist(x, x, 2, "fast"), DomainError, "'fast'")
refused("pdist", lambda x: mt.pdist(x[0]), ShapeError, "takes a matrix")
refused("pdist", lambda x: mt.pdist(x.long()), DTypeError, "int64 was given")
row(
    "pairwise_distance",
    lambda x, y: mt.pairwise_distance(x + y, y, 3, 0.5, keepdim=True),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    dtypes="real number",
    oracle=lambda x, y: np.linalg.norm(x + 0 * y + 0.5, 3, -1, keepdims=True),
)

# --- How variables vary together ----------------------------------------------------------------

row("cov", lambda x: x.cov(), *single((3, 4), (5,), (2, 2)), dtypes="real number")
refused("cov", lambda x: x[None].cov(), ShapeError, "up to two dimensions")
refused("cov", lambda x: (x > 0).cov(), DTypeError, "not defined on bool")
refused("cov", lambda x: x.cov(fweights=x[0]), DTypeError, "fweights of kind integer; float32")
refused("cov", lambda x: x.cov(aweights=x[0].long()), DTypeError, "aweights of kind float; int64")
refused("cov", lambda x: x.cov(aweights=x[0, :2]), ShapeError, r"shape \(3,\); \(2,\)")
refused("cov", lambda x: x.cov(aweights=-x[0]), DomainError, "not negative")
refused("cov", lambda x: x.cov(fweights=x[0].long() * 0), DomainError, "add up to zero")
row(
    "cov",
    lambda x, w: x.cov(
        correction=0, fweights=mt.tensor([2, 0, 1, 3], backend=x.backend), aweights=w * w + 1
    ),
    ((3, 4), (4,)),
    ((4,), (4,)),
    dtypes="float",
)
row("cov", lambda x, w: x.cov(aweights=w * w + 1), ((3, 4), (4,)), dtypes="float")
row("corrcoef", lambda x: (x * x).corrcoef(), *single((3, 4), (5,)), dtypes="real number")
refused("corrcoef", lambda x: x[None].corrcoef(), ShapeError, "up to two dimensions")
refused("corrcoef", lambda x: (x > 0).corrcoef(), DTypeError, "not defined on bool")
