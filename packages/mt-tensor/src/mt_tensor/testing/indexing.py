"""Samples of reading and writing by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import Array
from mt_tensor.errors import DomainError, DTypeError, IndexingError, ShapeError
from mt_tensor.testing.specs import AT, MATRIX, WITH_EMPTY, own_row, places, refused, row, single

# --- Indexing -----------------------------------------------------------------------------------

own_row("getitem", lambda x: x[1, ..., None, -1], *single((2, 3), (2, 3, 4)))
refused("getitem", lambda x: x[2], IndexingError, "index 2 is out of range for dimension 0")
refused("getitem", lambda x: x[0, 0, 0], IndexingError, "3 indices were given")
refused("getitem", lambda x: x[..., ...], IndexingError, "single Ellipsis")
refused("getitem", lambda x: x["a"], IndexingError, "cannot be indexed by 'a'")
refused("getitem", lambda x: x[x], IndexingError, "float32 cannot index")
refused("getitem", lambda x: x[[0, 2]], IndexingError, "index 2 is out of range")
refused("getitem", lambda x: x[x.to(mt.uint8)], IndexingError, "if it is a mask")
own_row(
    "getitem",
    lambda x: x[::-2, 1:],
    *single((5, 3), (1, 2)),
    torch=lambda x: x.flip(0)[::2, 1:],  # it has no negative steps
)
own_row("getitem", lambda x: x[5:, :0], ((2, 3),))
own_row("getitem", lambda x: x[:, [0, -1, 0]], ((2, 3),))
row("getitem", lambda x: x[[[1], [0]], 1:], lambda x: x[np.array([[1], [0]]), 1:], ((2, 3),))
own_row("getitem", lambda x: x[[True, False, True]], ((3, 2),))
own_row("getitem", lambda x: x[[0, 1], :, [1, -1]], ((2, 3, 4),))
own_row("getitem", lambda x: x[:, [[0], [1]], [1, 0]], ((2, 3, 4),))
own_row("getitem", lambda x: x[..., x[0, 0] > 0], ((2, 3, 4),))
own_row("getitem", lambda x: x[x > 0.2], *single((2, 3), (4,), (2, 1, 3)))
_POINTS = [[0, 1, 1], [2, 0, 2]]
row(
    "gather",
    lambda x: x.gather(1, mt.tensor(_POINTS, backend=x.backend)),
    lambda x: np.take_along_axis(x[:2], np.array(_POINTS), 1),
    *single((2, 3), (4, 5)),
)
refused("gather", lambda x: x.gather(1, x), DTypeError, "int64")
refused("gather", lambda x: x.gather(1, mt.tensor([[3]])), IndexingError, "index 3 is out of range")
refused(
    "gather", lambda x: x.gather(1, mt.tensor([[-1]])), IndexingError, "index -1 is out of range"
)
refused("gather", lambda x: x.gather(0, mt.zeros(2, 4).long()), ShapeError, "does not fit")


def _scattered(x: Array, source: Array) -> Array:
    out = np.array(x)
    np.add.at(out, (np.arange(2)[:, None], np.array(_POINTS)), source)
    return out


row(
    "scatter_add",
    lambda x, y: x.scatter_add(1, mt.tensor(_POINTS, backend=x.backend), y),
    _scattered,
    ((2, 3), (2, 3)),
)
refused(
    "scatter_add",
    lambda x: x.scatter_add(1, x.long() * 0, x.double()),
    DTypeError,
    "float64 to float32",
)
refused(
    "scatter_add", lambda x: x.scatter_add(1, x.long() * 0, x[:1]), ShapeError, "at least as large"
)
row(
    "index_select",
    lambda x: x.index_select(1, mt.tensor([2, 0, 2], backend=x.backend)),
    lambda x: x[:, [2, 0, 2]],
    *single((2, 3), (1, 3, 2)),
)
refused("index_select", lambda x: x.index_select(0, mt.tensor([[0]])), IndexingError, "1-D index")
row(
    "scatter",
    lambda x, y: x.scatter(1, mt.tensor([[2, 0]], backend=x.backend), y),
    lambda x, y: np.concatenate([[[y[0, 1], *x[0, 1:2], y[0, 0]]], x[1:]]),
    ((2, 3), (1, 2)),
    ((2, 3), (3, 2)),
    torch=lambda x, y: x.scatter(1, mt.tensor([[2, 0]]), y[:1]),  # no gradient for a longer source
)
refused(
    "scatter", lambda x: x.scatter(1, x.long() * 0, x.double()), DTypeError, "float64 to float32"
)
refused("scatter", lambda x: x.scatter(1, x, 1.0), DTypeError, "int64")
refused("scatter", lambda x: x.scatter(1, x.long(), 1.0), IndexingError, "index 6 is out of range")
refused("scatter", lambda x: x.scatter(1, x.long() * 0), TypeError, "either src")
row(
    "scatter",
    lambda x: x.scatter(0, mt.tensor([[1, 0]], backend=x.backend), 5.0),
    lambda x: np.where(np.eye(*x.shape)[::-1] == 1, 5.0, x),
    ((2, 2),),
)


def _scatter_reduced(
    reduce: str, include_self: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    ufunc = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}.get(reduce, np.add)

    def call(x: Any, source: Any) -> Any:
        index = mt.tensor(_POINTS, backend=x.backend)
        return x.scatter_reduce(1, index, source + 0.05, reduce, include_self=include_self)

    def oracle(x: Array, source: Array) -> Array:
        out, count = np.array(x), np.ones(x.shape)
        at = (np.arange(2)[:, None], np.array(_POINTS))
        if not include_self:
            out[at] = {"prod": 1, "amax": -np.inf, "amin": np.inf}.get(reduce, 0)
            count[at] = 0
        ufunc.at(out, at, source + 0.05)
        np.add.at(count, at, 1)
        return out / count if reduce == "mean" else out

    return call, oracle


for _reduce in ("sum", "prod", "mean", "amax", "amin"):
    for _include in (True, False):
        _call, _oracle = _scatter_reduced(_reduce, _include)
        row("scatter_reduce", _call, _oracle, ((2, 3), (2, 3)), dtypes="float")
row(
    "scatter_reduce",
    lambda x: x.scatter_reduce(1, x.detach().long() * 0, x, "sum"),
    lambda x: x + np.concatenate([x.sum(1, keepdims=True), 0 * x[:, 1:]], 1),
    *single((2, 3), (3, 0)),
)
refused(
    "scatter_reduce",
    lambda x: x.scatter_reduce(1, x.long() * 0, x, "max"),
    DomainError,
    "'max' was given",
)
refused(
    "scatter_reduce",
    lambda x: x.bool().scatter_reduce(1, x.long() * 0, x.bool(), "mean"),
    DTypeError,
    "no mean of bool",
)
row(
    "index_add",
    lambda x, y: x.index_add(1, mt.tensor([2, 0, 2], backend=x.backend), y, alpha=2),
    lambda x, y: x + 2 * np.stack([y[:, 1], 0 * y[:, 0], y[:, 0] + y[:, 2]], 1),
    ((2, 3), (2, 3)),
    ((1, 3), (1, 3)),
)
refused(
    "index_add",
    lambda x: x.index_add(0, mt.tensor([0], backend=x.backend), x),
    IndexingError,
    r"source of shape \(1, 3\)",
)
refused("index_add", lambda x: x.index_add(0, x, x), IndexingError, "1-D index")
row(
    "one_hot",
    lambda x: mt.one_hot(x.argmax(0), 7),
    lambda x: np.eye(7)[x.argmax(0)],
    *MATRIX,
    dtypes="index of numbers",
)
refused("one_hot", mt.one_hot, DTypeError, "classes of int64")
refused("one_hot", lambda x: mt.one_hot(x.long(), 5), IndexingError, "class 6 is out of range")
refused("one_hot", lambda x: mt.one_hot(-x.long()), IndexingError, "class -6 is out of range")
refused("one_hot", lambda x: mt.one_hot(x.long(), -2), DomainError, "integer from -1 on; -2")
refused("one_hot", lambda x: mt.one_hot(x[:0].long()), ShapeError, "needs num_classes")
row(
    "nonzero",
    lambda x: (x > 0.2).nonzero(),
    lambda x: np.argwhere(x > 0.2),
    *WITH_EMPTY,
    dtypes="index",
)
row(
    "masked_select",
    lambda x: x.masked_select(x[0] > 0),
    lambda x: x[np.broadcast_to(x[0] > 0, x.shape)],
    *MATRIX,
)
refused("masked_select", lambda x: x.masked_select(x), DTypeError, "mask of bool; float32")
refused("masked_select", lambda x: x.masked_select(x[:, :2] > 0), IndexingError, "do not broadcast")
row(
    "take_along_dim",
    lambda x: x.take_along_dim(x.argmax(0, keepdim=True), 0),
    lambda x: np.take_along_axis(x, x.argmax(0, keepdims=True), 0),
    *MATRIX,
    dtypes="number",
)
refused("take_along_dim", lambda x: x.take_along_dim(x), DTypeError, "indices of int64; float32")
refused(
    "take_along_dim", lambda x: x.take_along_dim(x[0].long(), 0), ShapeError, "as many dimensions"
)
refused(
    "take_along_dim", lambda x: x.take_along_dim(x.long()), IndexingError, "index 6 is out of range"
)
row(
    "take_along_dim",
    lambda x: x.take_along_dim(x.argmin()),
    lambda x: x.min().reshape(1),
    *MATRIX,
    dtypes="number",
)
row("where", lambda x, y: x.where(x > 0.2, y), lambda x, y: np.where(x > 0.2, x, y), ((3,), (2, 3)))
row(
    "masked_fill", lambda x: x.masked_fill(x > 0, 9.0), lambda x: np.where(x > 0, 9.0, x), ((2, 3),)
)

# --- Copies with other elements in some places --------------------------------------------------

row(
    "index_copy",
    lambda x, y: x.index_copy(1, AT[0](x), y),
    lambda x, y: np.stack([y[:, 1], x[:, 1], y[:, 0]], 1),
    ((2, 3), (2, 2)),
    ((1, 3, 2), (1, 2, 2)),
)
refused(
    "index_copy", lambda x: x.index_copy(1, AT[0](x), x), IndexingError, r"source of shape \(2, 2\)"
)
refused(
    "index_copy", lambda x: x.index_copy(0, AT[0](x), x), IndexingError, "index 2 is out of range"
)
refused("index_copy", lambda x: x.index_copy(1, x, x), IndexingError, "1-D index")
refused(
    "index_copy",
    lambda x: x.index_copy(0, AT[0](x) // 2, x.double()),
    DTypeError,
    "float64 to float32",
)
row(
    "index_fill",
    lambda x, y: x.index_fill(1, AT[0](x), y),
    lambda x, y: np.stack([0 * x[:, 1] + y, x[:, 1], 0 * x[:, 1] + y], 1),
    ((2, 3), ()),
    ((1, 3, 2), ()),
)
refused(
    "index_fill", lambda x: x.index_fill(1, AT[0](x), x), ShapeError, "a number or a 0-D tensor"
)
refused("index_fill", lambda x: x.index_fill(1, AT[0](x), "1"), TypeError, "'1' of type str")
refused(
    "index_fill", lambda x: x.index_fill(0, AT[0](x), 1), IndexingError, "index 2 is out of range"
)
row(
    "masked_scatter",
    lambda x, y: x.masked_scatter(mt.tensor([[True], [False]], backend=x.backend), y),
    lambda x, y: np.stack([y.reshape(-1)[:3], x.reshape(-1)[-3:]]),
    ((2, 3), (2, 2)),
    ((3,), (3,)),
)
refused(
    "masked_scatter", lambda x: x.masked_scatter(x > 1, x[0, :2]), ShapeError, "the source has 2"
)
refused("masked_scatter", lambda x: x.masked_scatter(x, x), DTypeError, "mask of bool; float32")
refused(
    "masked_scatter",
    lambda x: x.masked_scatter(x > 0, x.double()),
    DTypeError,
    "float64 to float32",
)
row(
    "index_put",
    lambda x, y: x.index_put((AT[0](x), slice(1)), y, accumulate=True),
    lambda x, y: np.concatenate(
        [np.stack([x[0, :1] + y[1], x[1, :1], x[2, :1] + y[0]]), x[:, 1:]], 1
    ),
    ((3, 2), (2, 1)),
    torch=lambda x, y: x.index_put(places(x), y, accumulate=True),
)
refused("index_put", lambda x: x.index_put(AT[0](x), x), TypeError, "indices as a tuple")
refused(
    "index_put", lambda x: x.index_put((AT[0](x),), x), IndexingError, "index 2 is out of range"
)
refused(
    "index_put",
    lambda x: x.index_put((AT[0](x) // 2,), x.double()),
    DTypeError,
    "float64 to float32",
)
refused("index_put", lambda x: x.index_put((AT[0](x) // 2,), x[:, :2]), ShapeError, "expand")

# --- Views of a copy, replaced; places of the flattened tensor ----------------------------------

row(
    "select_scatter",
    lambda x, y: x.select_scatter(y, 1, -1),
    lambda x, y: np.concatenate([x[:, :-1], y[:, None]], 1),
    ((2, 3), (2,)),
    ((2, 3, 2), (2, 2)),
)
refused(
    "select_scatter",
    lambda x: x.select_scatter(x, 0, 0),
    ShapeError,
    r"src of shape \(3,\); \(2, 3\)",
)
refused(
    "select_scatter",
    lambda x: x.select_scatter(x[0], 0, 2),
    IndexingError,
    "index 2 is out of range",
)
row(
    "select_scatter",
    lambda x, y: x.select_scatter(y.double(), 1, -1),
    lambda x, y: np.concatenate([x[:, :-1], y[:, None]], 1),
    ((2, 3), (2,)),
)
row(
    "slice_scatter",
    lambda x, y: x.slice_scatter(y, 1, 1, None, 2),
    lambda x, y: np.stack([x[:, 0], y[:, 0], x[:, 2], y[:, 1]], 1),
    ((2, 4), (2, 2)),
)
refused(
    "slice_scatter",
    lambda x: x.slice_scatter(x[:1]),
    ShapeError,
    r"src of shape \(2, 3\); \(1, 3\)",
)
row(
    "diagonal_scatter",
    lambda x, y: x.diagonal_scatter(y, 1),
    lambda x, y: np.where(np.eye(2, 3, 1) == 1, y[:, None], x),
    ((2, 3), (2,)),
)
refused(
    "diagonal_scatter",
    lambda x: x.diagonal_scatter(x[0]),
    ShapeError,
    r"src of shape \(2,\); \(3,\)",
)
refused(
    "diagonal_scatter", lambda x: x.diagonal_scatter(x[0], 0, 1, 1), IndexingError, "are the same"
)
row(
    "take",
    lambda x: x.T.take(mt.tensor([[0, -1], [1, 1]], backend=x.backend)),
    lambda x: x.T.reshape(-1)[[[0, -1], [1, 1]]],
    *single((2, 3), (2,)),
)
refused("take", lambda x: x.take(x), DTypeError, "index of int64; float32")
refused("take", lambda x: x.take(x.long()), IndexingError, "index 6 is out of range")
row("argwhere", lambda x: (x > 0).argwhere(), lambda x: np.argwhere(x > 0), *MATRIX, dtypes="index")
_BY_UFUNC = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
for _reduce, _ufunc in _BY_UFUNC.items():
    row(
        "index_reduce",
        lambda x, y, r=_reduce: x.index_reduce(1, AT[0](x), y, r),
        lambda x, y, f=_ufunc: np.stack([f(x[:, 0], y[:, 1]), x[:, 1], f(x[:, 2], y[:, 0])], 1),
        ((2, 3), (2, 2)),
        ((1, 3, 2), (1, 2, 2)),
    )
refused(
    "index_reduce", lambda x: x.index_reduce(1, AT[0](x), x, "sum"), DomainError, "'sum' was given"
)
refused(
    "index_reduce",
    lambda x: x.index_reduce(1, AT[0](x), x, "amax"),
    IndexingError,
    r"shape \(2, 2\)",
)
refused(
    "index_reduce",
    lambda x: x.index_reduce(0, AT[0](x), x, "amax"),
    IndexingError,
    "index 2 is out of",
)
row(
    "index_reduce",
    lambda x, y: x.index_reduce(0, AT[0](x) * 0, y * 2, "mean", include_self=False),
    lambda x, y: np.concatenate([2 * y.mean(0, keepdims=True), x[1:]]),
    ((3, 2), (2, 2)),
    dtypes="number",
)
row(
    "put",
    lambda x, y: x.put(mt.tensor([[4, -6]], backend=x.backend), y),
    lambda x, y: np.stack([[y[1], *x[0, 1:]], [x[1, 0], y[0], x[1, 2]]]),
    ((2, 3), (2,)),
)
refused("put", lambda x: x.put(x, x), DTypeError, "index of int64; float32")
refused("put", lambda x: x.put(x.long(), x[0]), IndexingError, "3 were given for 6")
refused("put", lambda x: x.put(x.long(), x), IndexingError, "index 6 is out of range")
refused("put", lambda x: x.put(x.long() - 1, x.double()), DTypeError, "float64 to float32")
row(
    "put",
    lambda x, y: x.put(mt.tensor([1, 0, 1], backend=x.backend), y, accumulate=True),
    lambda x, y: x + np.array([y[1], y[0] + y[2]]),
    ((2,), (3,)),
)


def _scatter_with(reduce: str, ufunc: Any) -> None:
    """Add the rows of `scatter(reduce=...)`, whose gradients torch has by another name only."""
    name = {"add": "sum", "multiply": "prod"}[reduce]

    def oracle(x: Array, source: Array) -> Array:
        out = np.array(x)
        ufunc.at(out, (np.arange(2)[:, None], np.array(_POINTS)), source)
        return out

    row(
        "scatter",
        lambda x, y: x.scatter(1, mt.tensor(_POINTS, backend=x.backend), y, reduce=reduce),
        oracle,
        ((2, 3), (2, 3)),
        torch=lambda x, y: x.scatter_reduce(1, mt.tensor(_POINTS), y, name),
    )
    call = lambda x: x.scatter(1, x.long() * 0, x.double(), reduce=reduce)  # noqa: E731
    refused("scatter", call, DTypeError, "float64")
    row(
        "scatter",
        lambda x: x.scatter(1, mt.tensor(_POINTS, backend=x.backend), 2, reduce=reduce),
        lambda x: oracle(x, np.full((2, 3), 2.0)),
        ((2, 3),),
        torch=lambda x: x.scatter_reduce(
            1, mt.tensor(_POINTS), mt.full((2, 3), 2, dtype=x.dtype), name
        ),
    )


refused("scatter", lambda x: x.scatter(1, x.long(), 1.0, reduce="sum"), DomainError, "'sum' was")
_scatter_with("add", np.add)
_scatter_with("multiply", np.multiply)
row(
    "index_fill",
    lambda x, y: x.index_fill(0, mt.tensor([1, 1], backend=x.backend), y),
    lambda x, y: np.stack([x[0], 0 * x[1] + y]),
    ((2, 3), ()),
)
