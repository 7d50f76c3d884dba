"""Samples of reading and writing by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.errors import DomainError, DTypeError, IndexingError, ShapeError
from mt_tensor.testing.specs import MATRIX, WITH_EMPTY, at, places, refused, row, single


def _out_of_range(name: str, call: Callable[..., Any], index: int = 2) -> None:
    """Refuse an index that names nothing."""
    refused(name, call, IndexingError, f"index {index} is out of range")


def _other_dtype(name: str, call: Callable[..., Any]) -> None:
    """Refuse a source that would have to be converted."""
    refused(name, call, DTypeError, "float64 to float32")


def _misfit(name: str, call: Callable[..., Any], message: str) -> None:
    """Refuse a source of another shape."""
    refused(name, call, ShapeError, message)


# --- Indexing -----------------------------------------------------------------------------------

row("getitem", lambda x: x[1, ..., None, -1], *single((2, 3), (2, 3, 4)))
refused("getitem", lambda x: x[2], IndexingError, "index 2 is out of range for dimension 0")
refused("getitem", lambda x: x[0, 0, 0], IndexingError, "3 indices were given")
refused("getitem", lambda x: x[..., ...], IndexingError, "single Ellipsis")
refused("getitem", lambda x: x["a"], IndexingError, "cannot be indexed by 'a'")
refused("getitem", lambda x: x[x], IndexingError, "float32 cannot index")
refused("getitem", lambda x: x[[0, 2]], IndexingError, "index 2 is out of range")
refused("getitem", lambda x: x[x.to(mt.uint8)], IndexingError, "if it is a mask")
row(
    "getitem",
    lambda x: x[::-2, 1:],
    *single((5, 3), (1, 2)),
    torch=lambda x: x.flip(0)[::2, 1:],  # it has no negative steps
)
row("getitem", lambda x: x[5:, :0], ((2, 3),))
row("getitem", lambda x: x[:, [0, -1, 0]], ((2, 3),))
row("getitem", lambda x: x[[[1], [0]], 1:], ((2, 3),))
row("getitem", lambda x: x[[True, False, True]], ((3, 2),))
row("getitem", lambda x: x[[0, 1], :, [1, -1]], ((2, 3, 4),))
row("getitem", lambda x: x[:, [[0], [1]], [1, 0]], ((2, 3, 4),))
row("getitem", lambda x: x[..., x[0, 0] > 0], ((2, 3, 4),))
row("getitem", lambda x: x[x > 0.2], *single((2, 3), (4,), (2, 1, 3)))
_POINTS = [[0, 1, 1], [2, 0, 2]]
row("gather", lambda x: x.gather(1, mt.tensor(_POINTS, backend=x.backend)), *single((2, 3), (4, 5)))
refused("gather", lambda x: x.gather(1, x), DTypeError, "int64")
refused("gather", lambda x: x.gather(1, mt.tensor([[3]])), IndexingError, "index 3 is out of range")
_out_of_range("gather", lambda x: x.gather(1, mt.tensor([[-1]])), -1)
refused("gather", lambda x: x.gather(0, mt.zeros(2, 4).long()), ShapeError, "does not fit")


row(
    "scatter_add",
    lambda x, y: x.scatter_add(1, mt.tensor(_POINTS, backend=x.backend), y),
    ((2, 3), (2, 3)),
)
_other_dtype("scatter_add", lambda x: x.scatter_add(1, x.long() * 0, x.double()))
_misfit("scatter_add", lambda x: x.scatter_add(1, x.long() * 0, x[:1]), "at least as large")
row(
    "index_select",
    lambda x: x.index_select(1, mt.tensor([2, 0, 2], backend=x.backend)),
    *single((2, 3), (1, 3, 2)),
)
refused("index_select", lambda x: x.index_select(0, mt.tensor([[0]])), IndexingError, "1-D index")
row(
    "scatter",
    lambda x, y: x.scatter(1, mt.tensor([[2, 0]], backend=x.backend), y),
    ((2, 3), (1, 2)),
    ((2, 3), (3, 2)),
    torch=lambda x, y: x.scatter(1, mt.tensor([[2, 0]]), y[:1]),  # no gradient for a longer source
)
_other_dtype("scatter", lambda x: x.scatter(1, x.long() * 0, x.double()))
refused("scatter", lambda x: x.scatter(1, x, 1.0), DTypeError, "int64")
refused("scatter", lambda x: x.scatter(1, x.long(), 1.0), IndexingError, "index 6 is out of range")
refused("scatter", lambda x: x.scatter(1, x.long() * 0), TypeError, "either src")
row("scatter", lambda x: x.scatter(0, mt.tensor([[1, 0]], backend=x.backend), 5.0), ((2, 2),))


def _scatter_reduced(reduce: str, include_self: bool) -> Callable[..., Any]:
    def call(x: Any, source: Any) -> Any:
        index = mt.tensor(_POINTS, backend=x.backend)
        return x.scatter_reduce(1, index, source + 0.05, reduce, include_self=include_self)

    return call


for _reduce in ("sum", "prod", "mean", "amax", "amin"):
    for _include in (True, False):
        _call = _scatter_reduced(_reduce, _include)
        row("scatter_reduce", _call, ((2, 3), (2, 3)), dtypes="float")
row(
    "scatter_reduce",
    lambda x: x.scatter_reduce(1, x.detach().long() * 0, x, "sum"),
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
row("one_hot", lambda x: mt.one_hot(x.argmax(0), 7), *MATRIX, dtypes="index of numbers")
refused("one_hot", mt.one_hot, DTypeError, "classes of int64")
refused("one_hot", lambda x: mt.one_hot(x.long(), 5), IndexingError, "class 6 is out of range")
refused("one_hot", lambda x: mt.one_hot(-x.long()), IndexingError, "class -6 is out of range")
refused("one_hot", lambda x: mt.one_hot(x.long(), -2), DomainError, "integer of at least -1; -2")
refused("one_hot", lambda x: mt.one_hot(x[:0].long()), ShapeError, "needs num_classes")
row("nonzero", lambda x: (x > 0.2).nonzero(), *WITH_EMPTY, dtypes="index")
row("masked_select", lambda x: x.masked_select(x[0] > 0), *MATRIX)
refused("masked_select", lambda x: x.masked_select(x), DTypeError, "mask of bool; float32")
refused("masked_select", lambda x: x.masked_select(x[:, :2] > 0), IndexingError, "do not broadcast")
row(
    "take_along_dim",
    lambda x: x.take_along_dim(x.argmax(0, keepdim=True), 0),
    *MATRIX,
    dtypes="number",
)
refused("take_along_dim", lambda x: x.take_along_dim(x), DTypeError, "indices of int64; float32")
_misfit("take_along_dim", lambda x: x.take_along_dim(x[0].long(), 0), "as many dimensions")
_out_of_range("take_along_dim", lambda x: x.take_along_dim(x.long()), 6)
row(
    "take_along_dim",
    lambda x: x.take_along_dim(x.argmin()),
    *MATRIX,
    dtypes="number",
    oracle=lambda x: x.min().reshape(1),
)
row("where", lambda x, y: x.where(x > 0.2, y), ((3,), (2, 3)))
row("masked_fill", lambda x: x.masked_fill(x > 0, 9.0), ((2, 3),))

# --- Copies with other elements in some places --------------------------------------------------

row("index_copy", lambda x, y: x.index_copy(1, at(x), y), ((2, 3), (2, 2)), ((1, 3, 2), (1, 2, 2)))
refused(
    "index_copy", lambda x: x.index_copy(1, at(x), x), IndexingError, r"source of shape \(2, 2\)"
)
_out_of_range("index_copy", lambda x: x.index_copy(0, at(x), x))
refused("index_copy", lambda x: x.index_copy(1, x, x), IndexingError, "1-D index")
_other_dtype("index_copy", lambda x: x.index_copy(0, at(x) // 2, x.double()))
row("index_fill", lambda x, y: x.index_fill(1, at(x), y), ((2, 3), ()), ((1, 3, 2), ()))
_misfit("index_fill", lambda x: x.index_fill(1, at(x), x), "a number or a 0-D tensor")
refused("index_fill", lambda x: x.index_fill(1, at(x), "1"), TypeError, "'1' of type str")
_out_of_range("index_fill", lambda x: x.index_fill(0, at(x), 1))
row(
    "masked_scatter",
    lambda x, y: x.masked_scatter(mt.tensor([[True], [False]], backend=x.backend), y),
    ((2, 3), (2, 2)),
    ((3,), (3,)),
)
_misfit("masked_scatter", lambda x: x.masked_scatter(x > 1, x[0, :2]), "the source has 2")
refused("masked_scatter", lambda x: x.masked_scatter(x, x), DTypeError, "mask of bool; float32")
_other_dtype("masked_scatter", lambda x: x.masked_scatter(x > 0, x.double()))
row(
    "index_put",
    lambda x, y: x.index_put((at(x), slice(1)), y, accumulate=True),
    ((3, 2), (2, 1)),
    torch=lambda x, y: x.index_put(places(x), y, accumulate=True),
)
refused("index_put", lambda x: x.index_put(at(x), x), TypeError, "indices as a tuple")
_out_of_range("index_put", lambda x: x.index_put((at(x),), x))
_other_dtype("index_put", lambda x: x.index_put((at(x) // 2,), x.double()))
refused("index_put", lambda x: x.index_put((at(x) // 2,), x[:, :2]), ShapeError, "expand")

# --- Views of a copy, replaced; places of the flattened tensor ----------------------------------

row(
    "select_scatter",
    lambda x, y: x.select_scatter(y, 1, -1),
    ((2, 3), (2,)),
    ((2, 3, 2), (2, 2)),
    oracle=lambda x, y: np.concatenate([x[:, :-1], y[:, None]], 1),
)
_misfit("select_scatter", lambda x: x.select_scatter(x, 0, 0), r"src of shape \(3,\); \(2, 3\)")
_out_of_range("select_scatter", lambda x: x.select_scatter(x[0], 0, 2))
row(
    "select_scatter",
    lambda x, y: x.select_scatter(y.double(), 1, -1),
    ((2, 3), (2,)),
    oracle=lambda x, y: np.concatenate([x[:, :-1], y[:, None]], 1),
)
row(
    "slice_scatter",
    lambda x, y: x.slice_scatter(y, 1, 1, None, 2),
    ((2, 4), (2, 2)),
    oracle=lambda x, y: np.stack([x[:, 0], y[:, 0], x[:, 2], y[:, 1]], 1),
)
_misfit("slice_scatter", lambda x: x.slice_scatter(x[:1]), r"src of shape \(2, 3\); \(1, 3\)")
row(
    "diagonal_scatter",
    lambda x, y: x.diagonal_scatter(y, 1),
    ((2, 3), (2,)),
    oracle=lambda x, y: np.where(np.eye(2, 3, 1) == 1, y[:, None], x),
)
_misfit("diagonal_scatter", lambda x: x.diagonal_scatter(x[0]), r"src of shape \(2,\); \(3,\)")
refused(
    "diagonal_scatter", lambda x: x.diagonal_scatter(x[0], 0, 1, 1), IndexingError, "are the same"
)
row(
    "take",
    lambda x: x.T.take(mt.tensor([[0, -1], [1, 1]], backend=x.backend)),
    *single((2, 3), (2,)),
)
refused("take", lambda x: x.take(x), DTypeError, "index of int64; float32")
refused("take", lambda x: x.take(x.long()), IndexingError, "index 6 is out of range")
row("argwhere", lambda x: (x > 0).argwhere(), *MATRIX, dtypes="index")
for _reduce in ("prod", "amax", "amin"):
    row(
        "index_reduce",
        lambda x, y, r=_reduce: x.index_reduce(1, at(x), y, r),
        ((2, 3), (2, 2)),
        ((1, 3, 2), (1, 2, 2)),
    )
refused(
    "index_reduce", lambda x: x.index_reduce(1, at(x), x, "sum"), DomainError, "'sum' was given"
)
refused(
    "index_reduce", lambda x: x.index_reduce(1, at(x), x, "amax"), IndexingError, r"shape \(2, 2\)"
)
_out_of_range("index_reduce", lambda x: x.index_reduce(0, at(x), x, "amax"))
row(
    "index_reduce",
    lambda x, y: x.index_reduce(0, at(x) * 0, y * 2, "mean", include_self=False),
    ((3, 2), (2, 2)),
    dtypes="number",
)
row("put", lambda x, y: x.put(mt.tensor([[4, -6]], backend=x.backend), y), ((2, 3), (2,)))
refused("put", lambda x: x.put(x, x), DTypeError, "index of int64; float32")
refused("put", lambda x: x.put(x.long(), x[0]), IndexingError, "3 were given for 6")
refused("put", lambda x: x.put(x.long(), x), IndexingError, "index 6 is out of range")
refused("put", lambda x: x.put(x.long() - 1, x.double()), DTypeError, "float64 to float32")
row(
    "put",
    lambda x, y: x.put(mt.tensor([1, 0, 1], backend=x.backend), y, accumulate=True),
    ((2,), (3,)),
)


def _scatter_with(reduce: str, name: str) -> None:
    """Add the rows of `scatter(reduce=...)`, whose gradients torch has by another name only."""
    row(
        "scatter",
        lambda x, y: x.scatter(1, mt.tensor(_POINTS, backend=x.backend), y, reduce=reduce),
        ((2, 3), (2, 3)),
        torch=lambda x, y: x.scatter_reduce(1, mt.tensor(_POINTS), y, name),
    )
    call = lambda x: x.scatter(1, x.long() * 0, x.double(), reduce=reduce)  # noqa: E731
    refused("scatter", call, DTypeError, "float64")
    row(
        "scatter",
        lambda x: x.scatter(1, mt.tensor(_POINTS, backend=x.backend), 2, reduce=reduce),
        ((2, 3),),
        torch=lambda x: x.scatter_reduce(
            1, mt.tensor(_POINTS), mt.full((2, 3), 2, dtype=x.dtype), name
        ),
    )


refused("scatter", lambda x: x.scatter(1, x.long(), 1.0, reduce="sum"), DomainError, "'sum' was")
_scatter_with("add", "sum")
_scatter_with("multiply", "prod")
row(
    "index_fill",
    lambda x, y: x.index_fill(0, mt.tensor([1, 1], backend=x.backend), y),
    ((2, 3), ()),
)
