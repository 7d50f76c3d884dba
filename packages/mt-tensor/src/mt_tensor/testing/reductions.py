"""Samples of reductions."""

from __future__ import annotations

import numpy as np

import mt_tensor as mt
from mt_tensor.testing.specs import ANY, MATRIX, WITH_EMPTY, row, single, with_nan

# --- Reductions ---------------------------------------------------------------------------------


row("sum", lambda x: x.sum(), *WITH_EMPTY, dtypes="sum")
row("sum", lambda x: x.sum(0), *MATRIX, ((0, 3),), dtypes="sum")
row("sum", lambda x: x.sum(-1, True), *MATRIX, ((2, 0),), dtypes="sum")
row("sum", lambda x: x.sum((0, 2)), *single((2, 3, 4), (2, 1, 3, 2, 1)), dtypes="sum")
row("mean", lambda x: x.mean(-1), *MATRIX, dtypes="float")
row("mean", lambda x: x.mean(), *ANY, dtypes="float")
row("var", lambda x: x.var(), *single((2, 3), (7,)), dtypes="float")
row("var", lambda x: x.var(1, correction=0), *single((2, 3), (2, 4, 3)), dtypes="float")
row("std", lambda x: x.std(0), ((4, 3),), dtypes="float")
row("amax", lambda x: x.amax(), *ANY)
row("amax", lambda x: x.amax((0, -1), True), *MATRIX)
row("amin", lambda x: x.amin(0), *MATRIX)
row("argmax", lambda x: x.argmax(-1), *MATRIX, dtypes="index of numbers")
row("argmax", lambda x: x.argmax(), *ANY, dtypes="index of numbers")
row("argmin", lambda x: x.argmin(0), *MATRIX, dtypes="index of numbers")
row("all", lambda x: (x > -0.5).all(), *ANY, dtypes="bool")
row("all", lambda x: (x > 0).all(0), ((0, 2),), dtypes="bool")
row("any", lambda x: (x > 0.5).any(-1), *MATRIX, dtypes="bool")
for _name in ("all", "any"):
    row(
        _name,
        lambda x, n=_name: getattr(x * (x > 0), n)(0),
        *MATRIX,
        ((0, 2),),
        dtypes="bool or uint8",
    )
row("sum_to_size", lambda x: x.sum_to_size(1, 3), ((4, 2, 3),), dtypes="sum")

row("softmax", lambda x: x.softmax(-1), *MATRIX, dtypes="float")
row("log_softmax", lambda x: x.log_softmax(-1), *MATRIX, dtypes="float")
row("softmax", lambda x: x.softmax(0), ((4, 3),), dtypes="float")

row("logsumexp", lambda x: x.logsumexp(-1), *MATRIX, dtypes="real")
row("logsumexp", lambda x: x.logsumexp((0, 1), True), *MATRIX, dtypes="real")
row("prod", lambda x: x.prod(), *single((2, 3), (), (0,)), dtypes="sum")
row(
    "prod",
    lambda x: (x * x.gt(0)).prod(0),  # with zeros
    *single((3, 2), (4, 1, 2)),
    dtypes="sum",
)
row("prod", lambda x: x.prod(-1, True), *MATRIX, dtypes="sum")
row("nansum", lambda x: with_nan(x).nansum(-1), *MATRIX, dtypes="real")
row("nanmean", lambda x: with_nan(x).nanmean(), *MATRIX, dtypes="real")
row("var_mean", lambda x: mt.var_mean(x, 0)[0], ((4, 3),), dtypes="float")
row("std_mean", lambda x: mt.std_mean(x, -1, False)[0], *single((2, 3), (3, 1, 2)), dtypes="float")
row("count_nonzero", lambda x: (x > 0).count_nonzero(0), *MATRIX, dtypes="index")
row("max", lambda x: x.max(), *ANY)
row("max", lambda x: x.max(-1).values, *MATRIX)
row("max", lambda x: x.max(0).indices, *MATRIX, dtypes="index")
row("max", lambda x, y: x.max(y), ((2, 3), (2, 1)))
row("min", lambda x: x.min(), *ANY)
row("min", lambda x: x.min(0, True).values, *MATRIX)
row("aminmax", lambda x: x.aminmax(dim=0).min, *MATRIX)
row("aminmax", lambda x: x.aminmax().max, *ANY)

# --- Norms --------------------------------------------------------------------------------------

row("norm", lambda x: x.norm(), *WITH_EMPTY, dtypes="float")
for _p in (1, 3, 1.5, 0.5, -1, np.inf, -np.inf):
    row("norm", lambda x, p=_p: x.norm(p, 0, keepdim=True), *single((3, 2), (4, 1)), dtypes="float")
row("norm", lambda x: x.norm(0, 0), ((3, 2),), differentiable=False, dtypes="float")

row("softmin", lambda x: mt.softmin(x, 0), ((4, 3),), dtypes="float")
