"""The sample table for operations on tensors, beside `mt_operators.testing` for the operators.

A row names an operation, its NumPy oracle, and the shapes it is tested on. The conformance kit
walks the table on every backend: values, element types, gradients by finite differences, inputs
unchanged, and the errors that bad arguments must raise. A new operation needs one row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import mt_tensor as mt
from mt_tensor.errors import (
    DTypeError,
    IndexingError,
    InPlaceError,
    ShapeError,
)

Array = npt.NDArray[Any]
Shapes = tuple[tuple[int, ...], ...]
BadCall = tuple[Callable[[Any], Any], type[Exception], str]
"""A call on a float32 tensor of shape (2, 3), the error it raises, and part of the message."""


FLOATS = ("float16", "float32", "float64")
WHOLE = ("bool", "uint8", "int8", "int16", "int32", "int64")
_SAME = {name: name for name in (*FLOATS, *WHOLE)}
_SAME_FLOATS = {name: name for name in FLOATS}

PROMOTION: dict[str, dict[str, str]] = {
    "same": _SAME,
    "number": {name: name for name in _SAME if name != "bool"},
    "float": _SAME_FLOATS,
    "real": {**_SAME_FLOATS, **dict.fromkeys(WHOLE, "float32")},
    "sum": {**_SAME_FLOATS, **dict.fromkeys(WHOLE, "int64")},
    "index": dict.fromkeys(_SAME, "int64"),
    "index of numbers": {name: "int64" for name in _SAME if name != "bool"},
    "truth": dict.fromkeys(_SAME, "bool"),
}
"""The rules for element types by name: what an operation makes of each one it is given.

An element type that a rule does not name must be refused.
"""


@dataclass(frozen=True)
class TensorOpSpec:
    """How one operation on tensors is tested.

    Attributes:
        name: the operation's public name.
        call: the operation, from tensors.
        oracle: the expected value, from float64 arrays.
        samples: for each sample, the shapes of the arguments.
        differentiable: whether gradients are checked against finite differences.
        positive: whether the arguments are drawn positive.
        errors: calls that must raise.
        dtypes: the rule of `PROMOTION` for the element type of the result.
        torch: how the call is written for torch, where that is another way than with `mt_tensor`;
            or in words, why the two are not compared.
    """

    name: str
    call: Callable[..., Any]
    oracle: Callable[..., Any]
    samples: tuple[Shapes, ...]
    differentiable: bool = True
    positive: bool = False
    errors: tuple[BadCall, ...] = ()
    dtypes: str = "same"
    torch: Callable[..., Any] | str | None = None


TENSOR_SPECS: list[TensorOpSpec] = []
"""The rows. A name may have several, for different arguments."""

_MATRIX: tuple[Shapes, ...] = (((2, 3),), ((1, 4),), ((3, 1, 2),))
_ANY: tuple[Shapes, ...] = (((),), ((1,),), ((5,),), ((2, 3),), ((2, 1, 3, 1, 2),))
_WITH_EMPTY: tuple[Shapes, ...] = (*_ANY, ((0,),), ((2, 0, 3),))


def row(
    name: str,
    call: Callable[..., Any],
    oracle: Callable[..., Any],
    *samples: Shapes,
    **rest: Any,
) -> None:
    """Add a row to `TENSOR_SPECS`; the arguments are those of `TensorOpSpec`."""
    TENSOR_SPECS.append(TensorOpSpec(name, call, oracle, samples, **rest))


# --- Reductions ---------------------------------------------------------------------------------

_NO_DIM: BadCall = (lambda x: x.sum(2), IndexingError, "dimension 2 is out of range")
_TWICE: BadCall = (lambda x: x.sum((0, -2)), IndexingError, "name a dimension twice")

row(
    "sum",
    lambda x: x.sum(),
    lambda x: x.sum(),
    *_WITH_EMPTY,
    errors=(_NO_DIM, _TWICE),
    dtypes="sum",
)
row("sum", lambda x: x.sum(0), lambda x: x.sum(0), *_MATRIX, ((0, 3),), dtypes="sum")
row(
    "sum",
    lambda x: x.sum(-1, True),
    lambda x: x.sum(-1, keepdims=True),
    *_MATRIX,
    ((2, 0),),
    dtypes="sum",
)
row(
    "sum",
    lambda x: x.sum((0, 2)),
    lambda x: x.sum((0, 2)),
    ((2, 3, 4),),
    ((2, 1, 3, 2, 1),),
    dtypes="sum",
)
row(
    "mean",
    lambda x: x.mean(-1),
    lambda x: x.mean(-1),
    *_MATRIX,
    errors=((lambda x: x.long().mean(), DTypeError, "int64 was given"),),
    dtypes="float",
)
row("mean", lambda x: x.mean(), lambda x: x.mean(), *_ANY, dtypes="float")
row("var", lambda x: x.var(), lambda x: x.var(ddof=1), ((2, 3),), ((7,),), dtypes="float")
row(
    "var",
    lambda x: x.var(1, correction=0),
    lambda x: x.var(1),
    ((2, 3),),
    ((2, 4, 3),),
    dtypes="float",
)
row("std", lambda x: x.std(0), lambda x: x.std(0, ddof=1), ((4, 3),), dtypes="float")
_EMPTY_EXTREME: BadCall = (lambda x: x[:, :0].amax(1), ShapeError, "no elements is undefined")
row("amax", lambda x: x.amax(), lambda x: x.max(), *_ANY, errors=(_EMPTY_EXTREME,))
row("amax", lambda x: x.amax((0, -1), True), lambda x: x.max((0, -1), keepdims=True), *_MATRIX)
row("amin", lambda x: x.amin(0), lambda x: x.min(0), *_MATRIX)
row(
    "argmax",
    lambda x: x.argmax(-1),
    lambda x: x.argmax(-1),
    *_MATRIX,
    differentiable=False,
    dtypes="index of numbers",
)
row(
    "argmax",
    lambda x: x.argmax(),
    lambda x: x.argmax(),
    *_ANY,
    differentiable=False,
    dtypes="index of numbers",
)
row(
    "argmin",
    lambda x: x.argmin(0),
    lambda x: x.argmin(0),
    *_MATRIX,
    differentiable=False,
    dtypes="index of numbers",
)
row(
    "all",
    lambda x: (x > -0.5).all(),
    lambda x: (x > -0.5).all(),
    *_ANY,
    differentiable=False,
    dtypes="truth",
)
row(
    "all",
    lambda x: (x > 0).all(0),
    lambda x: (x > 0).all(0),
    ((0, 2),),
    differentiable=False,
    dtypes="truth",
)
row(
    "any",
    lambda x: (x > 0.5).any(-1),
    lambda x: (x > 0.5).any(-1),
    *_MATRIX,
    differentiable=False,
    dtypes="truth",
)
row(
    "sum_to_size",
    lambda x: x.sum_to_size(1, 3),
    lambda x: x.sum((0, 1)).reshape(1, 3),
    ((4, 2, 3),),
    errors=((lambda x: x.sum_to_size(4), ShapeError, "does not broadcast"),),
    dtypes="sum",
)


def _softmax(x: Array) -> Array:
    weights = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


row("softmax", lambda x: x.softmax(-1), _softmax, *_MATRIX, dtypes="float")
row(
    "log_softmax",
    lambda x: x.log_softmax(-1),
    lambda x: np.log(_softmax(x)),
    *_MATRIX,
    dtypes="float",
)
row("softmax", lambda x: x.softmax(0), lambda x: _softmax(x.T).T, ((4, 3),), dtypes="float")

row(
    "logsumexp",
    lambda x: x.logsumexp(-1),
    lambda x: np.log(np.exp(x).sum(-1)),
    *_MATRIX,
    dtypes="real",
)
row(
    "logsumexp",
    lambda x: x.logsumexp((0, 1), True),
    lambda x: np.log(np.exp(x).sum((0, 1), keepdims=True)),
    *_MATRIX,
    errors=((lambda x: x.logsumexp(0.5), IndexingError, "0.5 was given"),),
    dtypes="real",
)
row("prod", lambda x: x.prod(), lambda x: x.prod(), ((2, 3),), ((),), ((0,),), dtypes="sum")
row(
    "prod",
    lambda x: (x * x.gt(0)).prod(0),  # with zeros
    lambda x: (x * (x > 0)).prod(0),
    ((3, 2),),
    ((4, 1, 2),),
    errors=((lambda x: x.prod((0, 1)), IndexingError, "is an integer"),),
    dtypes="sum",
)
row("prod", lambda x: x.prod(-1, True), lambda x: x.prod(-1, keepdims=True), *_MATRIX, dtypes="sum")
_NOT_A_NUMBER = (lambda x: x.where(x > 0, np.nan), lambda x: np.where(x > 0, x, np.nan))
row(
    "nansum",
    lambda x: _NOT_A_NUMBER[0](x).nansum(-1),
    lambda x: np.nansum(_NOT_A_NUMBER[1](x), -1),
    *_MATRIX,
    dtypes="real",
)
row(
    "nanmean",
    lambda x: _NOT_A_NUMBER[0](x).nanmean(),
    lambda x: np.nanmean(_NOT_A_NUMBER[1](x)),
    *_MATRIX,
    errors=((lambda x: x.long().nanmean(), DTypeError, "int64 was given"),),
    dtypes="real",
)
row(
    "var_mean",
    lambda x: mt.var_mean(x, 0)[0],
    lambda x: x.var(0, ddof=1),
    ((4, 3),),
    dtypes="float",
)
row(
    "std_mean",
    lambda x: mt.std_mean(x, -1, False)[0],
    lambda x: x.std(-1),
    ((2, 3),),
    ((3, 1, 2),),
    dtypes="float",
)
row(
    "count_nonzero",
    lambda x: (x > 0).count_nonzero(0),
    lambda x: (x > 0).sum(0),
    *_MATRIX,
    differentiable=False,
    dtypes="index",
)
row(
    "max",
    lambda x: x.max(),
    lambda x: x.max(),
    *_ANY,
    errors=(
        (lambda x: x[:0].max(), ShapeError, r"max\(\) of no elements"),
        (lambda x: x.max(keepdim=True), TypeError, "together with dim"),
        (lambda x: x.max(2.0), IndexingError, "2.0 was given"),
        (lambda x: x.max(0, other=x), TypeError, "not both"),
    ),
)
row("max", lambda x: x.max(-1).values, lambda x: x.max(-1), *_MATRIX)
row(
    "max",
    lambda x: x.max(0).indices,
    lambda x: x.argmax(0),
    *_MATRIX,
    differentiable=False,
    dtypes="index",
)
row("max", lambda x, y: x.max(y), np.maximum, ((2, 3), (2, 1)))
row("min", lambda x: x.min(), lambda x: x.min(), *_ANY)
row("min", lambda x: x.min(0, True).values, lambda x: x.min(0, keepdims=True), *_MATRIX)
row("aminmax", lambda x: x.aminmax(dim=0).min, lambda x: x.min(0), *_MATRIX)
row("aminmax", lambda x: x.aminmax().max, lambda x: x.max(), *_ANY)

# --- Norms --------------------------------------------------------------------------------------

row(
    "norm",
    lambda x: x.norm(),
    lambda x: np.sqrt(np.square(x).sum()),
    *_WITH_EMPTY,
    errors=(
        (lambda x: x.norm("nuc"), TypeError, "'nuc' was given"),
        (lambda x: x.long().norm(), DTypeError, "int64 was given"),
        (lambda x: x[:0].norm(np.inf), ShapeError, "no elements"),
    ),
    dtypes="float",
)
for _p in (1, 3, 1.5, 0.5, -1, np.inf, -np.inf):
    row(
        "norm",
        lambda x, p=_p: x.norm(p, 0, keepdim=True),
        lambda x, p=_p: np.linalg.norm(x, p, 0, keepdims=True),
        ((3, 2),),
        ((4, 1),),
        dtypes="float",
    )
row(
    "norm",
    lambda x: x.norm(0, 0),
    lambda x: (x != 0).sum(0),
    ((3, 2),),
    differentiable=False,
    dtypes="float",
)

# --- Running folds ------------------------------------------------------------------------------

row(
    "cumsum",
    lambda x: x.cumsum(0),
    lambda x: np.cumsum(x, 0).reshape(x.shape),
    *_MATRIX,
    ((),),
    ((0, 3),),
    errors=(
        (lambda x: x.cumsum(2), IndexingError, "dimension 2 is out of range"),
        (lambda x: x.cumsum(0, "bool"), DTypeError, "cannot be computed in bool"),
    ),
    dtypes="sum",
)
row(
    "cumprod",
    lambda x: x.cumprod(-1),
    lambda x: np.cumprod(x, -1).reshape(x.shape),
    *_MATRIX,
    ((),),
    ((0, 3),),
    errors=((lambda x: x.cumprod(0, "bool"), DTypeError, "cannot be computed in bool"),),
    dtypes="sum",
)
row(
    "cumprod",
    lambda x: (x * x.gt(0)).cumprod(0),  # with zeros
    lambda x: np.cumprod(x * (x > 0), 0),
    ((3, 2),),
    ((4,),),
    dtypes="sum",
)
row(
    "logcumsumexp",
    lambda x: x.logcumsumexp(-1),
    lambda x: np.logaddexp.accumulate(x, -1) if x.ndim else x,
    ((2, 4),),
    ((3, 1, 2),),
    ((),),
    ((0, 3),),
    errors=((lambda x: x.long().logcumsumexp(0), DTypeError, "int64 was given"),),
    dtypes="float",
)
row("cummax", lambda x: x.cummax(0).values, np.maximum.accumulate, *_MATRIX, ((0, 3),))
row(
    "cummin",
    lambda x: x.cummin(-1).values,
    lambda x: np.minimum.accumulate(x, -1) if x.ndim else x,
    *_MATRIX,
    ((),),
)

# --- Order --------------------------------------------------------------------------------------

row("sort", lambda x: x.sort().values, lambda x: np.sort(x, -1) if x.ndim else x, *_WITH_EMPTY)
row(
    "sort",
    lambda x: x.sort(0).indices,
    lambda x: x.argsort(0),
    *_MATRIX,
    differentiable=False,
    dtypes="index",
)
row("sort", lambda x: x.sort(0, descending=True).values, lambda x: -np.sort(-x, 0), *_MATRIX)
row(
    "argsort",
    lambda x: x.argsort(0),
    lambda x: np.argsort(x, 0),
    *_MATRIX,
    differentiable=False,
    errors=((lambda x: x.argsort("a"), IndexingError, "'a' was given"),),
    dtypes="index",
)
row(
    "topk",
    lambda x: x.topk(2).values,
    lambda x: -np.sort(-x, -1)[..., :2],
    ((2, 3),),
    ((3, 1, 2),),
    errors=(
        (lambda x: x.topk(4), ShapeError, "4 of the 3 element"),
        (lambda x: x.topk(-1), ShapeError, "-1 of the 3 element"),
        (lambda x: x.topk(1.0), ShapeError, "1.0 was given"),
    ),
)
row("topk", lambda x: x.topk(1, 0, False).values, lambda x: np.sort(x, 0)[:1], *_MATRIX)
row(
    "topk",
    lambda x: x.topk(1).indices,
    lambda x: x.argmax(-1)[..., None],
    *_MATRIX,
    differentiable=False,
    dtypes="index",
)
row(
    "median",
    lambda x: x.median(),
    lambda x: np.sort(x, None)[(x.size - 1) // 2],
    *_ANY,
    errors=(
        (lambda x: (x > 0).median(), DTypeError, "bool"),
        (lambda x: x[:0].median(0), ShapeError, "no elements"),
    ),
    dtypes="number",
)
row(
    "median",
    lambda x: x.median(0, True).values,
    lambda x: np.sort(x, 0)[(len(x) - 1) // 2][None],
    *_MATRIX,
    dtypes="number",
)

# --- Products -----------------------------------------------------------------------------------

row(
    "matmul",
    lambda a, b: a @ b,
    lambda a, b: a @ b,
    ((2, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 1, 2, 3), (4, 3, 2)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
    errors=(
        (lambda x: x @ x, ShapeError, r"\(2, 3\) and \(2, 3\): the inner extents 3 and 2"),
        (lambda x: x @ x.sum(), ShapeError, "at least one dimension"),
        (lambda x: (x > 0) @ (x > 0).T, DTypeError, "bool"),
    ),
    dtypes="number",
)
row(
    "matmul",
    lambda a, b: a.mT @ b,
    lambda a, b: np.swapaxes(a, -1, -2) @ b,
    ((3, 2), (3, 4)),
    dtypes="number",
)

# --- Movement -----------------------------------------------------------------------------------

row(
    "view",
    lambda x: x.view(3, -1),
    lambda x: x.reshape(3, -1),
    ((2, 3),),
    ((3, 2, 2),),
    errors=(
        (lambda x: x.view(4, 2), ShapeError, "6 element"),
        (lambda x: x.view(-1, -1), ShapeError, "single -1"),
        (lambda x: x.T.view(6), ShapeError, "without a copy"),
    ),
)
row("reshape", lambda x: x.T.reshape(-1), lambda x: x.T.reshape(-1), *_ANY)
row(
    "flatten",
    lambda x: x.flatten(1),
    lambda x: x.reshape(x.shape[0], -1),
    *_MATRIX,
    errors=((lambda x: x.flatten(1, 0), ShapeError, "runs backwards"),),
)
row(
    "permute",
    lambda x: x.permute(2, 0, 1),
    lambda x: x.transpose(2, 0, 1),
    ((2, 3, 4),),
    errors=((lambda x: x.permute(0, 0), IndexingError, "each of the 2"),),
)
row("transpose", lambda x: x.transpose(0, -1), lambda x: np.swapaxes(x, 0, -1), *_MATRIX)
row("T", lambda x: x.T, lambda x: x.T, *_ANY)
row("mT", lambda x: x.mT, lambda x: np.swapaxes(x, -1, -2), *_MATRIX)
row(
    "expand",
    lambda x: x.expand(4, -1, 3),
    lambda x: np.broadcast_to(x, (4, x.shape[0], 3)),
    ((2, 1),),
    ((2, 3),),
    errors=((lambda x: x.expand(4, 3), ShapeError, "only extents of 1"),),
)
row("broadcast_to", lambda x: x.broadcast_to((2, 3)), lambda x: np.broadcast_to(x, (2, 3)), ((3,),))
row("squeeze", lambda x: x.squeeze(), lambda x: x.squeeze(), *_ANY)
row("unsqueeze", lambda x: x.unsqueeze(-1), lambda x: x[..., None], *_WITH_EMPTY)
row("flip", lambda x: x.flip(0), lambda x: x[::-1], *_MATRIX)
row(
    "narrow",
    lambda x: x.narrow(0, 1, 2),
    lambda x: x[1:3],
    ((4, 2),),
    errors=((lambda x: x.narrow(0, 1, 2), ShapeError, "does not lie in"),),
)
row(
    "unfold",
    lambda x: x.unfold(-1, 3, 2),
    lambda x: np.lib.stride_tricks.sliding_window_view(x, 3, -1)[..., ::2, :],
    ((8,),),
    ((2, 5),),
    errors=((lambda x: x.unfold(1, 4, 1), ShapeError, "size from 0 to 3"),),
)
row(
    "pad",
    lambda x: mt.pad(x, (1, 0, -1, 2), value=7.0),
    lambda x: np.pad(x, ((0, 2), (1, 0)), constant_values=7.0)[1:],
    ((3, 2),),
    errors=(
        (lambda x: mt.pad(x, (1,)), ShapeError, "pairs"),
        (lambda x: mt.pad(x, (-4, 0)), ShapeError, "crops more"),
        (lambda x: mt.pad(x, (1, 1), "mirror"), ValueError, "'mirror' was given"),
    ),
)
row(
    "cat",
    lambda a, b: mt.cat([a, b], 1),
    lambda a, b: np.concatenate([a, b], 1),
    ((2, 3), (2, 1)),
    ((2, 0), (2, 3)),
    errors=(
        (lambda x: mt.cat([x, x[:1]], 1), ShapeError, "equal in all others"),
        (lambda x: mt.cat([]), ShapeError, "at least one tensor"),
    ),
)
row(
    "stack",
    lambda a, b: mt.stack([a, b], -1),
    lambda a, b: np.stack([a, b], -1),
    ((2, 3), (2, 3)),
    ((), ()),
    errors=((lambda x: mt.stack([x, x[0]]), ShapeError, "must all be equal"),),
)
_NO_DIMENSION: BadCall = (lambda x: x.sum().unbind(), ShapeError, "at least one dimension")
row(
    "split",
    lambda x: x.split(2)[-1],
    lambda x: x[2 * ((len(x) - 1) // 2) :],
    *_MATRIX,
    ((5,),),
    errors=(
        (lambda x: x.split(0), ShapeError, "at least one element; 0"),
        (lambda x: x.split((1, 2)), ShapeError, "must add up to 2"),
        (lambda x: x.split((3, -1)), ShapeError, "none be negative"),
    ),
)
row("split", lambda x: x.split([1, 0, 2], 1)[2], lambda x: x[:, 1:], ((2, 3),))
row(
    "chunk",
    lambda x: x.chunk(2, -1)[0],
    lambda x: x[..., : (x.shape[-1] + 1) // 2],
    *_MATRIX,
    errors=((lambda x: x.chunk(0), ShapeError, "at least one piece"),),
)
row(
    "tensor_split",
    lambda x: x.tensor_split(2)[1],
    lambda x: np.array_split(x, 2)[1],
    *_MATRIX,
    ((5,),),
    errors=((lambda x: x.tensor_split(0), ShapeError, "at least one section"),),
)
row("tensor_split", lambda x: x.tensor_split([1, 9], 1)[1], lambda x: x[:, 1:], ((2, 3),))
row("unbind", lambda x: x.unbind(1)[0], lambda x: x[:, 0], *_MATRIX, errors=(_NO_DIMENSION,))
row(
    "unflatten",
    lambda x: x.unflatten(1, (2, -1)),
    lambda x: x.reshape(x.shape[0], 2, -1, *x.shape[2:]),
    ((3, 4),),
    ((1, 2, 3),),
    errors=((lambda x: x.unflatten(1, (2, -1)), ShapeError, r"do not fit shape \(2, -1\)"),),
)
row(
    "roll",
    lambda x: x.roll((1, -2), (0, -1)),
    lambda x: np.roll(x, (1, -2), (0, -1)),
    *_MATRIX,
    ((0, 2),),
    errors=(
        (lambda x: x.roll((1, 2), 0), ShapeError, "a shift for each"),
        (lambda x: x.roll((1, 2)), ShapeError, "takes one shift"),
        (lambda x: x.roll(1.5, 0), ShapeError, "are integers"),
    ),
)
row("roll", lambda x: x.roll(2), lambda x: np.roll(x, 2), *_WITH_EMPTY)
row(
    "repeat",
    lambda x: x.repeat(2, 1, 3),
    lambda x: np.tile(x, (2, 1, 3)),
    ((2, 3),),
    ((3,),),
    ((),),
    errors=((lambda x: x.repeat(2), ShapeError, "each of the 2"),),
)
row("tile", lambda x: x.tile(2), lambda x: np.tile(x, 2), *_WITH_EMPTY)
row("repeat_interleave", lambda x: x.repeat_interleave(2), lambda x: x.repeat(2), *_WITH_EMPTY)
row(
    "repeat_interleave",
    lambda x: x.repeat_interleave(mt.tensor([2, 0, 1], backend=x.backend), 1),
    lambda x: x.repeat([2, 0, 1], 1),
    ((2, 3),),
    ((1, 3, 2),),
    errors=(
        (lambda x: x.repeat_interleave(-1), ShapeError, "must not be negative"),
        (lambda x: x.repeat_interleave(x), DTypeError, "must be int32 or int64"),
        (lambda x: x.repeat_interleave(x.long(), 0), ShapeError, "for each of 2 slice"),
        (lambda x: x.repeat_interleave(2, 0, output_size=3), ShapeError, "gives 4 slices"),
    ),
)
row(
    "movedim",
    lambda x: x.movedim((0, -1), (1, 0)),
    lambda x: np.moveaxis(x, (0, -1), (1, 0)),
    *_MATRIX,
    errors=(
        (lambda x: x.movedim((0, 1), 0), IndexingError, "the numbers differ"),
        (lambda x: x.movedim((0, 0), (0, 1)), IndexingError, "name a dimension twice"),
    ),
)
row("swapdims", lambda x: x.swapdims(0, -1), lambda x: np.swapaxes(x, 0, -1), *_MATRIX)
row("swapaxes", lambda x: x.swapaxes(0, -1), lambda x: np.swapaxes(x, 0, -1), *_MATRIX)
row(
    "expand_as",
    lambda x, y: x.expand_as(y) * y,
    lambda x, y: np.broadcast_to(x, y.shape) * y,
    ((3,), (2, 3)),
)
row(
    "view_as",
    lambda x, y: x.clone().view_as(y) * y,
    lambda x, y: x.reshape(y.shape) * y,
    ((6,), (2, 3)),
)
row(
    "reshape_as",
    lambda x, y: x.reshape_as(y) * y,
    lambda x, y: x.reshape(y.shape) * y,
    ((6,), (2, 3)),
)
row(
    "broadcast_tensors",
    lambda x, y: mt.broadcast_tensors(x, y)[0] * y,
    lambda x, y: x * y,
    ((3,), (2, 1)),
)
for _order in ("ij", "xy"):
    row(
        "meshgrid",
        lambda x, y, order=_order: mt.stack(mt.meshgrid(x, y, indexing=order)),
        lambda x, y, order=_order: np.stack(np.meshgrid(x, y, indexing=order)),
        ((2,), (3,)),
        ((0,), (3,)),
        errors=(
            (mt.meshgrid, ShapeError, "takes 1-D tensors"),
            (lambda x: mt.meshgrid(x[0], x[0].long()), DTypeError, "float32, int64"),
            (lambda x: mt.meshgrid(x[0], indexing="yx"), ValueError, "'yx' was given"),
        ),
    )
row(
    "diagonal",
    lambda x: x.diagonal(1, -1, 0),
    lambda x: np.diagonal(x, 1, -1, 0),
    *_MATRIX,
    ((3, 0),),
    errors=((lambda x: x.diagonal(0, 1, -1), IndexingError, "are the same"),),
)
row("diagonal", lambda x: x.diagonal(-1), lambda x: np.diagonal(x, -1), *_MATRIX, ((4, 2),))
row(
    "diag",
    lambda x: x.diag(1),
    lambda x: np.diag(x, 1),
    ((3,),),
    ((0,),),
    ((2, 3),),
    ((3, 1),),
    errors=((lambda x: x.sum().diag(), ShapeError, "1-D or 2-D"),),
)
row(
    "tril",
    lambda x: x.tril(-1),
    lambda x: np.tril(x, -1),
    *_MATRIX,
    ((3, 0),),
    errors=((lambda x: x[0].tril(), ShapeError, "at least two dimensions"),),
)
row("triu", lambda x: x.triu(1), lambda x: np.triu(x, 1), *_MATRIX)
row(
    "hstack",
    lambda x, y: mt.hstack((x, y)),
    lambda x, y: np.hstack((x, y)),
    ((), (2,)),
    ((2, 3), (2, 1)),
    errors=((lambda x: mt.hstack([]), ShapeError, "at least one tensor"),),
)
row(
    "vstack",
    lambda x, y: mt.vstack((x, y)),
    lambda x, y: np.vstack((x, y)),
    ((), (1,)),
    ((3,), (2, 3)),
    errors=((lambda x: mt.vstack([x, x[:, :2]]), ShapeError, "equal in all others"),),
)
row("atleast_1d", mt.atleast_1d, np.atleast_1d, *_WITH_EMPTY)
row("atleast_2d", mt.atleast_2d, np.atleast_2d, *_WITH_EMPTY)
row("clone", lambda x: x.clone(), lambda x: x, *_WITH_EMPTY)
row("contiguous", lambda x: x.T.contiguous(), lambda x: x.T, *_ANY)

# --- Indexing -----------------------------------------------------------------------------------

row(
    "getitem",
    lambda x: x[1, ..., None, -1],
    lambda x: x[1, ..., None, -1],
    ((2, 3),),
    ((2, 3, 4),),
    errors=(
        (lambda x: x[2], IndexingError, "index 2 is out of range for dimension 0"),
        (lambda x: x[0, 0, 0], IndexingError, "3 indices were given"),
        (lambda x: x[..., ...], IndexingError, "single Ellipsis"),
        (lambda x: x["a"], IndexingError, "cannot be indexed by 'a'"),
        (lambda x: x[x], IndexingError, "float32 cannot index"),
        (lambda x: x[[0, 2]], IndexingError, "index 2 is out of range"),
    ),
)
row(
    "getitem",
    lambda x: x[::-2, 1:],
    lambda x: x[::-2, 1:],
    ((5, 3),),
    ((1, 2),),
    torch=lambda x: x.flip(0)[::2, 1:],  # it has no negative steps
)
row("getitem", lambda x: x[5:, :0], lambda x: x[5:, :0], ((2, 3),))
row("getitem", lambda x: x[:, [0, -1, 0]], lambda x: x[:, [0, -1, 0]], ((2, 3),))
row("getitem", lambda x: x[[[1], [0]], 1:], lambda x: x[np.array([[1], [0]]), 1:], ((2, 3),))
row("getitem", lambda x: x[[True, False, True]], lambda x: x[[True, False, True]], ((3, 2),))
row("getitem", lambda x: x[[0, 1], :, [1, -1]], lambda x: x[[0, 1], :, [1, -1]], ((2, 3, 4),))
row("getitem", lambda x: x[:, [[0], [1]], [1, 0]], lambda x: x[:, [[0], [1]], [1, 0]], ((2, 3, 4),))
row("getitem", lambda x: x[..., x[0, 0] > 0], lambda x: x[..., x[0, 0] > 0], ((2, 3, 4),))
row("getitem", lambda x: x[x > 0.2], lambda x: x[x > 0.2], ((2, 3),), ((4,),), ((2, 1, 3),))
_POINTS = [[0, 1, 1], [2, 0, 2]]
row(
    "gather",
    lambda x: x.gather(1, mt.tensor(_POINTS, backend=x.backend)),
    lambda x: np.take_along_axis(x[:2], np.array(_POINTS), 1),
    ((2, 3),),
    ((4, 5),),
    errors=(
        (lambda x: x.gather(1, x), DTypeError, "int64"),
        (lambda x: x.gather(1, mt.tensor([[3]])), IndexingError, "index 3 is out of range"),
        (lambda x: x.gather(1, mt.tensor([[-1]])), IndexingError, "index -1 is out of range"),
        (lambda x: x.gather(0, mt.zeros(2, 4).long()), ShapeError, "does not fit"),
    ),
)


def _scattered(x: Array, source: Array) -> Array:
    out = np.array(x)
    np.add.at(out, (np.arange(2)[:, None], np.array(_POINTS)), source)
    return out


row(
    "scatter_add",
    lambda x, y: x.scatter_add(1, mt.tensor(_POINTS, backend=x.backend), y),
    _scattered,
    ((2, 3), (2, 3)),
    errors=(
        (lambda x: x.scatter_add(1, x.long() * 0, x.double()), DTypeError, "float64 to float32"),
        (lambda x: x.scatter_add(1, x.long() * 0, x[:1]), ShapeError, "at least as large"),
    ),
)
row(
    "index_select",
    lambda x: x.index_select(1, mt.tensor([2, 0, 2], backend=x.backend)),
    lambda x: x[:, [2, 0, 2]],
    ((2, 3),),
    ((1, 3, 2),),
    errors=((lambda x: x.index_select(0, mt.tensor([[0]])), ShapeError, "1-D index"),),
)
row(
    "scatter",
    lambda x, y: x.scatter(1, mt.tensor([[2, 0]], backend=x.backend), y),
    lambda x, y: np.concatenate([[[y[0, 1], *x[0, 1:2], y[0, 0]]], x[1:]]),
    ((2, 3), (1, 2)),
    ((2, 3), (3, 2)),
    torch=lambda x, y: x.scatter(1, mt.tensor([[2, 0]]), y[:1]),  # no gradient for a longer source
    errors=(
        (lambda x: x.scatter(1, x.long() * 0, x.double()), DTypeError, "float64 to float32"),
        (lambda x: x.scatter(1, x, 1.0), DTypeError, "int64"),
        (lambda x: x.scatter(1, x.long(), 1.0), IndexingError, "index 6 is out of range"),
        (lambda x: x.scatter(1, x.long() * 0), TypeError, "either src"),
    ),
)
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
    ((2, 3),),
    ((3, 0),),
    errors=(
        (lambda x: x.scatter_reduce(1, x.long() * 0, x, "max"), ValueError, "'max' was given"),
        (
            lambda x: x.bool().scatter_reduce(1, x.long() * 0, x.bool(), "mean"),
            DTypeError,
            "no mean of bool",
        ),
    ),
)
row(
    "index_add",
    lambda x, y: x.index_add(1, mt.tensor([2, 0, 2], backend=x.backend), y, alpha=2),
    lambda x, y: x + 2 * np.stack([y[:, 1], 0 * y[:, 0], y[:, 0] + y[:, 2]], 1),
    ((2, 3), (2, 3)),
    ((1, 3), (1, 3)),
    errors=(
        (
            lambda x: x.index_add(0, mt.tensor([0], backend=x.backend), x),
            ShapeError,
            r"source of shape \(1, 3\)",
        ),
        (lambda x: x.index_add(0, x, x), ShapeError, "1-D index"),
    ),
)
row(
    "one_hot",
    lambda x: mt.one_hot(x.argmax(0), 7),
    lambda x: np.eye(7)[x.argmax(0)],
    *_MATRIX,
    differentiable=False,
    errors=(
        (mt.one_hot, DTypeError, "classes of int64"),
        (lambda x: mt.one_hot(x.long(), 5), IndexingError, "class 6 is out of range"),
        (lambda x: mt.one_hot(-x.long()), IndexingError, "class -6 is out of range"),
        (lambda x: mt.one_hot(x.long(), -2), ShapeError, "positive integer"),
        (lambda x: mt.one_hot(x[:0].long()), ShapeError, "needs num_classes"),
    ),
    dtypes="index of numbers",
)
row(
    "nonzero",
    lambda x: (x > 0.2).nonzero(),
    lambda x: np.argwhere(x > 0.2),
    *_WITH_EMPTY,
    differentiable=False,
    dtypes="index",
)
row(
    "masked_select",
    lambda x: x.masked_select(x[0] > 0),
    lambda x: x[np.broadcast_to(x[0] > 0, x.shape)],
    *_MATRIX,
    errors=(
        (lambda x: x.masked_select(x), DTypeError, "mask of bool; float32"),
        (lambda x: x.masked_select(x[:, :2] > 0), IndexingError, "do not broadcast"),
    ),
)
row(
    "take_along_dim",
    lambda x: x.take_along_dim(x.argmax(0, keepdim=True), 0),
    lambda x: np.take_along_axis(x, x.argmax(0, keepdims=True), 0),
    *_MATRIX,
    errors=(
        (lambda x: x.take_along_dim(x), DTypeError, "indices of int64; float32"),
        (lambda x: x.take_along_dim(x[0].long(), 0), ShapeError, "as many dimensions"),
        (lambda x: x.take_along_dim(x.long()), IndexingError, "index 6 is out of range"),
    ),
    dtypes="number",
)
row(
    "take_along_dim",
    lambda x: x.take_along_dim(x.argmin()),
    lambda x: x.min().reshape(1),
    *_MATRIX,
    dtypes="number",
)
row("where", lambda x, y: x.where(x > 0.2, y), lambda x, y: np.where(x > 0.2, x, y), ((3,), (2, 3)))
row(
    "masked_fill",
    lambda x: x.masked_fill(x > 0, 9.0),
    lambda x: np.where(x > 0, 9.0, x),
    ((2, 3),),
)

# --- In place -----------------------------------------------------------------------------------


def _in_place(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def call(x: Any, y: Any) -> Any:
        result = x.detach().clone()
        change(result, y.detach())
        return result

    return call


def _in_place_oracle(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def oracle(x: Array, y: Array) -> Array:
        out = np.array(x)
        change(out, y)
        return out

    return oracle


_RECORDED: BadCall = (lambda x: x.requires_grad_().add_(1), InPlaceError, "requires grad")
row(
    "add_",
    _in_place(lambda x, y: x.add_(y, alpha=2)),
    lambda x, y: x + 2 * y,
    ((2, 3), (3,)),
    differentiable=False,
    errors=(
        _RECORDED,
        (lambda x: x.long().add_(1.5), DTypeError, "cannot be stored in place in int64"),
        (lambda x: x.expand(2, 2, 3).add_(1), InPlaceError, "repeats elements"),
        (lambda x: x[0].add_(x), ShapeError, "does not broadcast to"),
    ),
    dtypes="number",
)
row(
    "sub_",
    _in_place(lambda x, y: x.sub_(y)),
    lambda x, y: x - y,
    ((2, 3), ()),
    differentiable=False,
    dtypes="number",
)
row(
    "mul_",
    _in_place(lambda x, y: x.mul_(y)),
    lambda x, y: x * y,
    ((2, 3), (2, 1)),
    differentiable=False,
)
row(
    "div_",
    _in_place(lambda x, y: x.div_(y)),
    lambda x, y: x / y,
    ((3,), (3,)),
    differentiable=False,
    dtypes="float",
)
row(
    "copy_",
    _in_place(lambda x, y: x.copy_(y)),
    lambda x, y: y + 0 * x,
    ((2, 3), (3,)),
    differentiable=False,
)
row(
    "zero_",
    _in_place(lambda x, y: x.T.zero_()),
    lambda x, y: 0 * x,
    ((2, 3), ()),
    differentiable=False,
)
row(
    "fill_",
    _in_place(lambda x, y: x[0].fill_(2)),
    lambda x, y: np.stack([0 * x[0] + 2, x[1]]),
    ((2, 3), ()),
    differentiable=False,
)


def _assign(x: Any, y: Any) -> None:
    x[:, ::2] = y
    x[0] += x[1]  # a view of the same storage on the right


def _assign_oracle(x: Array, y: Array) -> Array:
    out = np.array(x)
    out[:, ::2] = y
    out[0] += out[1]
    return out


row("setitem", _in_place(_assign), _assign_oracle, ((2, 3), (2, 2)), differentiable=False)


def _assign_picked(x: Any, y: Any) -> None:
    x[[0, 2], ::-1, [1, 0]] = y
    x[x < 0] = 7


row(
    "setitem",
    _in_place(_assign_picked),
    _in_place_oracle(_assign_picked),
    ((3, 2, 2), (2, 2)),
    ((3, 4, 2), (1, 4)),
    ((3, 0, 2), ()),
    differentiable=False,
    torch="it has no negative steps",
)


def _shifted(x: Any, _: Any) -> None:
    x[1:].add_(x[:-1])  # overlapping views: as if the right side were read first


row(
    "add_",
    _in_place(_shifted),
    lambda x, y: np.concatenate([x[:1], x[1:] + x[:-1]]),
    ((6,), ()),
    differentiable=False,
    torch="it refuses memory that overlaps",
)
