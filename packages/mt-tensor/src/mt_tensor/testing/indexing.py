"""Samples of indexing and assignment by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.errors import IndexingError, ShapeError
from mt_tensor.testing.specs import MATRIX, WITH_EMPTY, at, bad_call, places, row, single


def _out_of_range(name: str, call: Callable[..., Any], index: int = 2) -> None:
    """Add a call whose index is out of range."""
    bad_call(name, call, IndexingError, f"index {index} is out of range")


# --- Indexing -----------------------------------------------------------------------------------

row("getitem", lambda x: x[1, ..., None, -1], *single((2, 3), (2, 3, 4)))
bad_call("getitem", lambda x: x[[0, 2]], IndexingError, "index 2 is out of range")
row(
    "getitem",
    lambda x: x[::-2, 1:],
    *single((5, 3), (1, 2)),
    torch=lambda x: x.flip(0)[::2, 1:],  # torch has no negative steps
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
row("gather", lambda x: x.gather(1, at(x, _POINTS)), *single((2, 3), (4, 5)))
bad_call(
    "gather", lambda x: x.gather(1, mt.tensor([[3]])), IndexingError, "index 3 is out of range"
)
_out_of_range("gather", lambda x: x.gather(1, mt.tensor([[-1]])), -1)


row("scatter_add", lambda x, y: x.scatter_add(1, at(x, _POINTS), y), ((2, 3), (2, 3)))
row("index_select", lambda x: x.index_select(1, at(x, [2, 0, 2])), *single((2, 3), (1, 3, 2)))
row(
    "scatter",
    lambda x, y: x.scatter(1, at(x, [[2, 0]]), y),
    ((2, 3), (1, 2)),
    ((2, 3), (3, 2)),
    torch=lambda x, y: x.scatter(1, mt.tensor([[2, 0]]), y[:1]),  # no gradient for a longer source
)
bad_call("scatter", lambda x: x.scatter(1, x.long(), 1.0), IndexingError, "index 6 is out of range")
row("scatter", lambda x: x.scatter(0, at(x, [[1, 0]]), 5.0), ((2, 2),))


def _scatter_reduced(reduce: str, include_self: bool) -> Callable[..., Any]:
    def call(x: Any, source: Any) -> Any:
        index = at(x, _POINTS)
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
row(
    "index_add",
    lambda x, y: x.index_add(1, at(x, [2, 0, 2]), y, alpha=2),
    ((2, 3), (2, 3)),
    ((1, 3), (1, 3)),
)
row("one_hot", lambda x: mt.one_hot(x.argmax(0), 7), *MATRIX, dtypes="index of numbers")
bad_call("one_hot", lambda x: mt.one_hot(x.long(), 5), IndexingError, "class 6 is out of range")
bad_call("one_hot", lambda x: mt.one_hot(-x.long()), IndexingError, "class -6 is out of range")
row("nonzero", lambda x: (x > 0.2).nonzero(), *WITH_EMPTY, dtypes="index")
row("masked_select", lambda x: x.masked_select(x[0] > 0), *MATRIX)
row(
    "take_along_dim",
    lambda x: x.take_along_dim(x.argmax(0, keepdim=True), 0),
    *MATRIX,
    dtypes="number",
)
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

# --- Copies with some elements replaced ---------------------------------------------------------

row("index_copy", lambda x, y: x.index_copy(1, at(x), y), ((2, 3), (2, 2)), ((1, 3, 2), (1, 2, 2)))
_out_of_range("index_copy", lambda x: x.index_copy(0, at(x), x))
row("index_fill", lambda x, y: x.index_fill(1, at(x), y), ((2, 3), ()), ((1, 3, 2), ()))
_out_of_range("index_fill", lambda x: x.index_fill(0, at(x), 1))
row(
    "masked_scatter",
    lambda x, y: x.masked_scatter(at(x, [[True], [False]]), y),
    ((2, 3), (2, 2)),
    ((3,), (3,)),
)
bad_call(
    "masked_scatter", lambda x: x.masked_scatter(x > 1, x[0, :2]), ShapeError, "the source has 2"
)
row(
    "index_put",
    lambda x, y: x.index_put((at(x), slice(1)), y, accumulate=True),
    ((3, 2), (2, 1)),
    torch=lambda x, y: x.index_put(places(x), y, accumulate=True),
)
_out_of_range("index_put", lambda x: x.index_put((at(x),), x))

# --- Copies with a view replaced; positions in the flattened tensor -----------------------------

row(
    "select_scatter",
    lambda x, y: x.select_scatter(y, 1, -1),
    ((2, 3), (2,)),
    ((2, 3, 2), (2, 2)),
    oracle=lambda x, y: np.concatenate([x[:, :-1], y[:, None]], 1),
)
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
row(
    "diagonal_scatter",
    lambda x, y: x.diagonal_scatter(y, 1),
    ((2, 3), (2,)),
    oracle=lambda x, y: np.where(np.eye(2, 3, 1) == 1, y[:, None], x),
)
row("take", lambda x: x.T.take(at(x, [[0, -1], [1, 1]])), *single((2, 3), (2,)))
bad_call("take", lambda x: x.take(x.long()), IndexingError, "index 6 is out of range")
row("argwhere", lambda x: (x > 0).argwhere(), *MATRIX, dtypes="index")
for _reduce in ("prod", "amax", "amin"):
    row(
        "index_reduce",
        lambda x, y, r=_reduce: x.index_reduce(1, at(x), y, r),
        ((2, 3), (2, 2)),
        ((1, 3, 2), (1, 2, 2)),
    )
_out_of_range("index_reduce", lambda x: x.index_reduce(0, at(x), x, "amax"))
row(
    "index_reduce",
    lambda x, y: x.index_reduce(0, at(x) * 0, y * 2, "mean", include_self=False),
    ((3, 2), (2, 2)),
    dtypes="number",
)
row("put", lambda x, y: x.put(at(x, [[4, -6]]), y), ((2, 3), (2,)))
bad_call("put", lambda x: x.put(x.long(), x), IndexingError, "index 6 is out of range")
row("put", lambda x, y: x.put(at(x, [1, 0, 1]), y, accumulate=True), ((2,), (3,)))


def _scatter_with(reduce: str, name: str) -> None:
    """Add the rows of `scatter(reduce=...)`, which torch differentiates as `scatter_reduce`."""
    row(
        "scatter",
        lambda x, y: x.scatter(1, at(x, _POINTS), y, reduce=reduce),
        ((2, 3), (2, 3)),
        torch=lambda x, y: x.scatter_reduce(1, mt.tensor(_POINTS), y, name),
    )
    row(
        "scatter",
        lambda x: x.scatter(1, at(x, _POINTS), 2, reduce=reduce),
        ((2, 3),),
        torch=lambda x: x.scatter_reduce(
            1, mt.tensor(_POINTS), mt.full((2, 3), 2, dtype=x.dtype), name
        ),
    )


_scatter_with("add", "sum")
_scatter_with("multiply", "prod")
row("index_fill", lambda x, y: x.index_fill(0, at(x, [1, 1]), y), ((2, 3), ()))
