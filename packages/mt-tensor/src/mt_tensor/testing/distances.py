"""Samples of distances between vectors, and of how variables vary together."""

from __future__ import annotations

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import DomainError, DTypeError, IndexingError, ShapeError
from mt_tensor.testing.specs import refused, row, single

# --- Distances ----------------------------------------------------------------------------------


def _length(x: Array, p: float) -> Array:
    return np.asarray(np.linalg.norm(x, p, -1) if x.shape[-1] else x.sum(-1))


def _pairs(x: Array) -> Array:
    first, second = np.triu_indices(len(x), 1)
    return np.asarray(x[first] - x[second])


row(
    "dist",
    lambda x, y: x.dist(y),
    lambda x, y: np.linalg.norm(np.ravel(x - y)),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    dtypes="float",
)
refused("dist", lambda x: x.long().dist(x.long()), DTypeError, "int64 was given")
refused("dist", lambda x: x[:0].dist(x[:0], np.inf), IndexingError, "no elements")
for _p in (1, 2, 3, 1.5, np.inf):
    row(
        "cdist",
        lambda x, y, p=_p: mt.cdist(x, y * y, p),
        lambda x, y, p=_p: _length(x[..., :, None, :] - (y * y)[..., None, :, :], p),
        ((2, 3), (4, 3)),
        ((2, 1, 2), (3, 2)),
        ((2, 0), (1, 0)),
        ((0, 2), (3, 2)),
        dtypes="float",
    )
    row(
        "pdist",
        lambda x, p=_p: mt.pdist(x * x, p),
        lambda x, p=_p: _length(_pairs(x * x), p),
        *single((4, 2), (2, 3), (1, 3)),
        dtypes="float",
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
    lambda x, y: np.linalg.norm(x + 0 * y + 0.5, 3, -1, keepdims=True),
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    dtypes="real number",
)

# --- How variables vary together ----------------------------------------------------------------

row("cov", lambda x: x.cov(), np.cov, *single((3, 4), (5,), (2, 2)), dtypes="real number")
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
    lambda x, w: np.cov(x, ddof=0, fweights=[2, 0, 1, 3], aweights=w * w + 1),
    ((3, 4), (4,)),
    ((4,), (4,)),
    dtypes="float",
)
row(
    "cov",
    lambda x, w: x.cov(aweights=w * w + 1),
    lambda x, w: np.cov(x, aweights=w * w + 1),
    ((3, 4), (4,)),
    dtypes="float",
)
row(
    "corrcoef",
    lambda x: (x * x).corrcoef(),
    lambda x: np.corrcoef(x * x),
    *single((3, 4), (5,)),
    dtypes="real number",
)
refused("corrcoef", lambda x: x[None].corrcoef(), ShapeError, "up to two dimensions")
refused("corrcoef", lambda x: (x > 0).corrcoef(), DTypeError, "not defined on bool")
