"""Samples of cumulative operations, sorting, counting, integration and searching."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import DomainError, IndexingError
from mt_tensor.testing.specs import ANY, MATRIX, WITH_EMPTY, bad_call, row, single, with_nan

# --- Cumulative operations ----------------------------------------------------------------------

row("cumsum", lambda x: x.cumsum(0), *MATRIX, *single((), (0, 3)), dtypes="sum")
row("cumprod", lambda x: x.cumprod(-1), *MATRIX, *single((), (0, 3)), dtypes="sum")
row(
    "cumprod",
    lambda x: (x * x.gt(0)).cumprod(0),  # with zeros
    *single((3, 2), (4,)),
    dtypes="sum",
)
row(
    "logcumsumexp",
    lambda x: x.logcumsumexp(-1),
    *single((2, 4), (3, 1, 2), (), (0, 3)),
    dtypes="float",
)
row("cummax", lambda x: x.cummax(0).values, *MATRIX, ((0, 3),))
row("cummin", lambda x: x.cummin(-1).values, *MATRIX, ((),))

# --- Order --------------------------------------------------------------------------------------

row("sort", lambda x: x.sort().values, *WITH_EMPTY)
row("sort", lambda x: x.sort(0).indices, *MATRIX, dtypes="index")
row("sort", lambda x: x.sort(0, descending=True).values, *MATRIX)
row("argsort", lambda x: x.argsort(0), *MATRIX, dtypes="index")
row("topk", lambda x: x.topk(2).values, *single((2, 3), (3, 1, 2)))
row("topk", lambda x: x.topk(1, 0, False).values, *MATRIX)
row("topk", lambda x: x.topk(1).indices, *MATRIX, dtypes="index")
row("median", lambda x: x.median(), *ANY, dtypes="number")
row("median", lambda x: x.median(0, True).values, *MATRIX, dtypes="number")

# --- Counting and order statistics --------------------------------------------------------------

row(
    "unique",
    lambda x: (x > 0).float().unique(return_counts=True)[1],
    *WITH_EMPTY,
    dtypes="index",
    oracle=lambda x: np.unique(x > 0, return_counts=True)[1],
)
row(
    "unique_consecutive",
    lambda x: (x > 0).long().unique_consecutive(dim=0),
    *single((5,), (4, 1)),
    dtypes="index",
    oracle=lambda x: (x > 0)[
        np.r_[True, ((x > 0)[1:] != (x > 0)[:-1]).reshape(len(x) - 1, -1).any(1)]
    ],
)
row(
    "unique",
    lambda x: (x * 2).long().unique(return_inverse=True)[1],
    *WITH_EMPTY,
    dtypes="index",
    oracle=lambda x: np.unique(np.trunc(x * 2), return_inverse=True)[1].reshape(x.shape),
)
row(
    "unique_consecutive",
    lambda x: (x > 0).long().unique_consecutive(return_counts=True)[1],
    *ANY,
    dtypes="index",
    oracle=lambda x: np.array([len(list(each)) for _, each in groupby((x > 0).reshape(-1))]),
)
row("bincount", lambda x: (x > 0).long().bincount(minlength=3), *single((5,), (0,)), dtypes="index")
bad_call("bincount", lambda x: (-x[0].long()).bincount(), DomainError, "-3 was given")
row("msort", lambda x: x.msort(), *MATRIX, ((5,),))
row("kthvalue", lambda x: x.kthvalue(2).values, *single((2, 3), (4,)))
for _method in ("linear", "lower", "higher", "midpoint", "nearest"):
    row(
        "quantile",
        lambda x, method=_method: x.quantile(0.3, -1, interpolation=method),
        *MATRIX,
        ((7,),),
        dtypes="wide float",
    )
row("quantile", lambda x: x.quantile(0.3), *ANY, dtypes="wide float")
row("nanquantile", lambda x: with_nan(x).nanquantile(0.6), *MATRIX, dtypes="wide real")
row("diff", lambda x: x.diff(2, 0), *single((4, 2), (3,), (2, 2)))


def _nanmedian(x: Array) -> Any:
    """Return the lower median of a vector's numbers."""
    numbers = np.sort(x[~np.isnan(x)])
    return numbers[(len(numbers) - 1) // 2]


def _mode(x: Array) -> Any:
    """Return the most frequent element of a vector; the smallest if there are several."""
    values, counts = np.unique(x, return_counts=True)
    return values[counts.argmax()]


row(
    "mode",
    lambda x: (x > 0).float().mode().values,
    *single((2, 3), (4,), (5, 1, 7)),
    differentiable=False,
    dtypes="single",
    oracle=lambda x: np.apply_along_axis(_mode, -1, (x > 0) * 1.0),
)
row(
    "mode",
    lambda x: x.mode(0, True).values,
    *MATRIX,
    oracle=lambda x: np.apply_along_axis(_mode, 0, x)[None],
)
row(
    "mode",
    lambda x: (x > 0).mode(0).indices,
    *single((5, 3), (4, 2, 2), (1,)),
    dtypes="index",
    oracle=lambda x: np.apply_along_axis(lambda v: np.flatnonzero(v == _mode(v))[-1], 0, x > 0),
)
row(
    "nanmedian",
    lambda x: with_nan(x).nanmedian(),
    *single((2, 3), (7,)),
    dtypes="real",
    oracle=lambda x: np.sort(x[x > 0])[((x > 0).sum() - 1) // 2],
)
row(
    "nanmedian",
    lambda x: x.where(x > x.min(), np.nan).nanmedian(0, True).values,
    ((4, 3),),
    dtypes="real",
    oracle=lambda x: np.apply_along_axis(_nanmedian, 0, np.where(x > x.min(), x, np.nan))[None],
)
row("histc", lambda x: x.histc(4, -1, 1.25), *WITH_EMPTY, differentiable=False, dtypes="float")
bad_call("histc", lambda x: x.histc(3, 0, np.inf), DomainError, "finite range")
bad_call("histc", lambda x: (x / 0).histc(3), DomainError, "finite range")
row(
    "histc", lambda x: x.histc(3), *single((2, 3), (5,), (1,)), differentiable=False, dtypes="float"
)


# --- Areas under curves -------------------------------------------------------------------------

for _name in ("trapezoid", "trapz"):
    row(_name, lambda y, n=_name: getattr(mt, n)(y, dx=0.5, dim=0), *MATRIX, dtypes="real number")
row(
    "trapezoid",
    lambda y, x: mt.trapezoid(y, x, dim=0),
    ((3, 2), (3,)),
    ((4,), (4,)),
    ((3, 2), (3, 2)),
    dtypes="real number",
)
row("cumulative_trapezoid", mt.cumulative_trapezoid, *MATRIX, ((1,),), dtypes="real number")
row(
    "cumulative_trapezoid",
    lambda y, x: mt.cumulative_trapezoid(y, x=x),
    ((2, 3), (3,)),
    ((2, 3), (1, 3)),
    dtypes="real number",
)

# --- Binary search and membership ---------------------------------------------------------------

for _right in (False, True):
    row(
        "searchsorted",
        lambda x, y, right=_right: mt.searchsorted(x.sort().values, y, right=right),
        ((5,), (2, 3)),
        ((4,), ()),
        ((0,), (2,)),
        dtypes="index of numbers",
    )
    row(
        "bucketize",
        lambda x, y, right=_right: mt.bucketize(x, y.sort().values, right=right),
        ((2, 3), (5,)),
        ((), (4,)),
        ((3,), (0,)),
        dtypes="index of numbers",
    )
bad_call(
    "searchsorted", lambda x: mt.searchsorted(x, x, sorter=x.long()), IndexingError, "out of range"
)
row(
    "searchsorted",
    lambda x, y: mt.searchsorted(x, y, sorter=x.argsort(-1), side="right"),
    ((2, 3), (2, 4)),
    dtypes="index of numbers",
    oracle=lambda x, y: np.stack(
        [np.searchsorted(np.sort(a), b, "right") for a, b in zip(x, y, strict=True)]
    ),
)
row("isin", mt.isin, ((2, 3), (4,)), ((), (2, 2)), ((0, 2), (3,)), dtypes="bool of numbers")
row("isin", lambda x: mt.isin(x, 2, invert=True), *WITH_EMPTY, dtypes="bool of numbers")
