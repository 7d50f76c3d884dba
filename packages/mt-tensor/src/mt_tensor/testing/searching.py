"""Samples of areas under curves, and of searching in what is sorted."""

from __future__ import annotations

import numpy as np

import mt_tensor as mt
from mt_tensor.errors import DomainError, DTypeError, IndexingError, ShapeError
from mt_tensor.testing.specs import MATRIX, WITH_EMPTY, refused, row

# --- Areas under curves -------------------------------------------------------------------------

for _name in ("trapezoid", "trapz"):
    row(
        _name,
        lambda y, n=_name: getattr(mt, n)(y, dx=0.5, dim=0),
        lambda y: np.trapezoid(y, dx=0.5, axis=0),
        *MATRIX,
        dtypes="real number",
    )
    refused(_name, lambda x: mt.trapezoid(x.sum()), IndexingError, "at least one dimension")
    refused(_name, lambda x: mt.trapezoid(x > 0), DTypeError, "not defined on bool")
    refused(_name, lambda x: mt.trapezoid(x, x[0, :2]), ShapeError, r"each of 3 points; .*\(2,\)")
    refused(_name, lambda x: mt.trapezoid(x, x.sum()), ShapeError, r"trapezoid\(\) takes a place")
    refused(_name, lambda x: mt.trapezoid(x, x, dx=1), TypeError, "not both")
row(
    "trapezoid",
    lambda y, x: mt.trapezoid(y, x, dim=0),
    lambda y, x: np.trapezoid(y, x, axis=0),
    ((3, 2), (3,)),
    ((4,), (4,)),
    ((3, 2), (3, 2)),
    dtypes="real number",
)
row(
    "cumulative_trapezoid",
    mt.cumulative_trapezoid,
    lambda y: np.cumsum((y[..., 1:] + y[..., :-1]) / 2, -1),
    *MATRIX,
    ((1,),),
    dtypes="real number",
)
row(
    "cumulative_trapezoid",
    lambda y, x: mt.cumulative_trapezoid(y, x=x),
    lambda y, x: np.cumsum((y[..., 1:] + y[..., :-1]) / 2 * np.diff(x), -1),
    ((2, 3), (3,)),
    ((2, 3), (1, 3)),
    dtypes="real number",
)

# --- Places in what is sorted, and what occurs elsewhere ----------------------------------------

for _right in (False, True):
    row(
        "searchsorted",
        lambda x, y, right=_right: mt.searchsorted(x.sort().values, y, right=right),
        lambda x, y, right=_right: np.searchsorted(np.sort(x), y, "right" if right else "left"),
        ((5,), (2, 3)),
        ((4,), ()),
        ((0,), (2,)),
        dtypes="index of numbers",
    )
    row(
        "bucketize",
        lambda x, y, right=_right: mt.bucketize(x, y.sort().values, right=right),
        lambda x, y, right=_right: np.digitize(x, np.sort(y), right=not right),
        ((2, 3), (5,)),
        ((), (4,)),
        ((3,), (0,)),
        dtypes="index of numbers",
    )
refused("searchsorted", lambda x: mt.searchsorted(x, x[0]), ShapeError, r"\(2, 3\) and \(3,\)")
refused("searchsorted", lambda x: mt.searchsorted(x > 0, x > 0), DTypeError, "not defined on bool")
refused("searchsorted", lambda x: mt.searchsorted(x, x, side="up"), DomainError, "'up' was given")
refused(
    "searchsorted", lambda x: mt.searchsorted(x, x, side="left", right=True), DomainError, "'left'"
)
refused(
    "searchsorted",
    lambda x: mt.searchsorted(x, x, sorter=x),
    DTypeError,
    "sorter of int64; float32",
)
refused(
    "searchsorted",
    lambda x: mt.searchsorted(x, x, sorter=x[0].long()),
    ShapeError,
    r"\(3,\) was given",
)
refused(
    "searchsorted", lambda x: mt.searchsorted(x, x, sorter=x.long()), IndexingError, "out of range"
)
refused("bucketize", lambda x: mt.bucketize(x, x), ShapeError, "takes 1-D boundaries")
refused("bucketize", lambda x: mt.bucketize(x > 0, x[0] > 0), DTypeError, "not defined on bool")
row(
    "searchsorted",
    lambda x, y: mt.searchsorted(x, y, sorter=x.argsort(-1), side="right"),
    lambda x, y: np.stack(
        [np.searchsorted(np.sort(a), b, "right") for a, b in zip(x, y, strict=True)]
    ),
    ((2, 3), (2, 4)),
    dtypes="index of numbers",
)
row(
    "isin",
    mt.isin,
    np.isin,
    ((2, 3), (4,)),
    ((), (2, 2)),
    ((0, 2), (3,)),
    dtypes="truth of numbers",
)
refused("isin", lambda x: mt.isin(x > 0, x), DTypeError, "not defined on bool")
refused("isin", lambda x: mt.isin(1, 2), TypeError, "takes tensors; 2")
row(
    "isin",
    lambda x: mt.isin(x, 2, invert=True),
    lambda x: x != 2,
    *WITH_EMPTY,
    dtypes="truth of numbers",
)
