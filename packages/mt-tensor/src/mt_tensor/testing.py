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
from mt_operators import OPERATORS
from mt_operators.testing import SPECS, WHOLE_SPECS
from mt_tensor.errors import (
    DivisionByZeroError,
    DomainError,
    DTypeError,
    EquationError,
    IndexingError,
    InPlaceError,
    ShapeError,
)
from mt_tensor.pointwise.in_place import IN_PLACE

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
    "double": dict.fromkeys(_SAME, "float64"),
    "real": {**_SAME_FLOATS, **dict.fromkeys(WHOLE, "float32")},
    "wide float": {name: name for name in FLOATS[1:]},
    "wide real": {**{name: name for name in FLOATS[1:]}, **dict.fromkeys(WHOLE, "float32")},
    "sum": {**_SAME_FLOATS, **dict.fromkeys(WHOLE, "int64")},
    "sum of numbers": {**_SAME_FLOATS, **dict.fromkeys(WHOLE[1:], "int64")},
    "sum of bool": {**_SAME, "bool": "int64"},
    "index": dict.fromkeys(_SAME, "int64"),
    "index of numbers": {name: "int64" for name in _SAME if name != "bool"},
    "truth": dict.fromkeys(_SAME, "bool"),
    "truth of numbers": {name: "bool" for name in _SAME if name != "bool"},
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


_PAIRS: tuple[Shapes, ...] = (((2, 3), (3,)), ((5,), ()), ((0, 3), (3,)))
_NOT_A_NUMBER = (lambda x: x.where(x > 0, np.nan), lambda x: np.where(x > 0, x, np.nan))


def _some(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the oracle's pair of which the first has nan where it is not positive."""
    return _NOT_A_NUMBER[1](x), y


# --- Element-wise, with settings ----------------------------------------------------------------

_NO_NUMBER: BadCall = (lambda x: mt.add(1, 2), TypeError, r"add\(\) takes tensors; 1 of type int")
row(
    "add",
    lambda x, y: x.add(y, alpha=2),
    lambda x, y: x + 2 * y,
    ((2, 3), (3,)),
    ((0, 3), ()),
    errors=(
        _NO_NUMBER,
        (lambda x: x.add(x, alpha="2"), TypeError, "alpha is a number; '2' of type str"),
        (lambda x: x.long().add(1, alpha=0.5), DTypeError, "alpha=0.5 does not fit .* integer"),
        (lambda x: x.add(x, alpha=True), DTypeError, "alpha=True does not fit .* float"),
    ),
    dtypes="sum of bool",
)
row(
    "sub",
    lambda x, y: mt.sub(x, y, alpha=-0.5),
    lambda x, y: x + 0.5 * y,
    ((2, 3), (2, 1)),
    errors=((lambda x: x.bool().sub(x.bool()), DTypeError, "use ne"),),
    dtypes="float",
)
row(
    "subtract",
    lambda x, y: x.subtract(y, alpha=2),
    lambda x, y: x - 2 * y,
    ((2, 3), (3,)),
    errors=((lambda x: x.bool().sub(x.bool(), alpha=2), DTypeError, "use ne"),),
    dtypes="number",
)
row(
    "pow",
    lambda x: mt.pow(2, exponent=x),
    lambda x: 2.0**x,
    *_WITH_EMPTY,
    dtypes="sum of bool",
    positive=True,
)
row("float_power", lambda x: x.float_power(3).to(x.dtype), lambda x: x**3, *_ANY)
row("ldexp", lambda x, y: x.ldexp(y), lambda x, y: x * 2**y, ((2, 3), (3,)), dtypes="real")
row("logaddexp2", mt.logaddexp2, np.logaddexp2, ((2, 3), (3,)), ((), (1,)), dtypes="real")
row(
    "addcmul",
    lambda x, y, z: x.addcmul(y, z, value=0.5),
    lambda x, y, z: x + 0.5 * y * z,
    ((2, 3), (3,), (2, 1)),
    errors=(
        (lambda x: x.addcmul(2, x), TypeError, "2 of type int"),
        (lambda x: x.long().addcmul(x.long(), x.long(), value=0.5), DTypeError, "value=0.5"),
    ),
    dtypes="float",
)
row(
    "addcdiv",
    lambda x, y, z: x.addcdiv(y, z, value=2),
    lambda x, y, z: x + 2 * y / z,
    ((2, 3), (3,), (2, 1)),
    positive=True,
    errors=((lambda x: x.addcdiv(x.long(), x.long()), DTypeError, "divides floats"),),
    dtypes="float",
)
row(
    "lerp",
    lambda x, y: x.lerp(y, 0.75),
    lambda x, y: 0.25 * x + 0.75 * y,
    ((2, 3), (3,)),
    errors=(
        (lambda x: x.lerp(x.double(), 0.5), DTypeError, "float32, float64 were given"),
        (lambda x: x.long().lerp(x.long(), 0.5), DTypeError, "takes floats"),
        (lambda x: x.lerp(1.0, 0.5), TypeError, "1.0 of type float"),
    ),
    dtypes="float",
)
row("lerp", mt.lerp, lambda x, y, w: x + w * (y - x), ((2, 3), (3,), (2, 1)), dtypes="float")
row(
    "clamp",
    lambda x: x.clamp(-0.3, 0.5),
    lambda x: np.clip(x, -0.3, 0.5),
    *_WITH_EMPTY,
    errors=(
        (lambda x: x.clamp(), DomainError, "needs min, max or both"),
        (lambda x: x.clamp("a"), TypeError, "was given 'a' of type str"),
        (lambda x: x.bool().clamp(False, True), DTypeError, "not defined on bool"),
        (lambda x: x.to("uint8").clamp(min=300), DTypeError, "300 is out of range for uint8"),
        (lambda x: x.clamp(max=x[:, :2]), IndexingError, "do not broadcast"),
    ),
    dtypes="real",
)
row("clamp", lambda x, y: x.clamp(max=y), np.minimum, ((2, 3), (2, 1)))
row(
    "clamp",
    mt.clamp,
    np.clip,
    ((2, 3), (3,), (2, 1)),
    dtypes="number",
)
row("clamp_min", lambda x, y: x.clamp_min(y), np.maximum, ((2, 3), (2, 1)))
row("clamp_max", lambda x: mt.clamp_max(x, 0.2), lambda x: np.minimum(x, 0.2), *_ANY, dtypes="real")
row("clip", lambda x: x.clip(0.25), lambda x: np.maximum(x, 0.25), *_ANY, dtypes="real")
row(
    "fmax",
    lambda x, y: _NOT_A_NUMBER[0](x).fmax(y),
    lambda x, y: np.fmax(*_some(x, y)),
    *_PAIRS,
    dtypes="real",
)
row(
    "fmin",
    lambda x, y: x.fmin(_NOT_A_NUMBER[0](y)),
    lambda x, y: np.fmin(*_some(y, x)),
    *_PAIRS,
    dtypes="real",
)
row(
    "nan_to_num",
    lambda x: _NOT_A_NUMBER[0](x).nan_to_num(0.5),
    lambda x: np.nan_to_num(_NOT_A_NUMBER[1](x), nan=0.5),
    *_WITH_EMPTY,
    dtypes="real",
)
row(
    "frac",
    lambda x: (2 * x).frac(),
    lambda x: np.fmod(2 * x, 1),
    *_MATRIX,
    errors=((lambda x: x.long().frac(), DTypeError, "takes floats; int64"),),
    dtypes="float",
)
row(
    "positive",
    lambda x: x.positive() * 2,
    lambda x: x * 2,
    *_ANY,
    errors=((lambda x: x.bool().positive(), DTypeError, "takes numbers"),),
    dtypes="number",
)
row(
    "heaviside",
    lambda x, y: (x * (x > 0)).heaviside(y),
    lambda x, y: np.heaviside(x * (x > 0), y),
    ((2, 3), (3,)),
    errors=((lambda x: x.heaviside(x.double()), DTypeError, "one dtype; float32, float64"),),
)
row("deg2rad", lambda x: x.deg2rad(), np.deg2rad, *_ANY, dtypes="real")
row("rad2deg", lambda x: x.rad2deg(), np.rad2deg, *_ANY, dtypes="real")
row("logit", lambda x: (x / 4).sigmoid().logit(), lambda x: x / 4, *_WITH_EMPTY, dtypes="real")
row(
    "logit",
    lambda x: x.logit(0.25),
    lambda x: np.log(np.clip(x, 0.25, 0.75) / (1 - np.clip(x, 0.25, 0.75))),
    *_MATRIX,
    dtypes="real",
)
row(
    "gelu",
    lambda x: x.gelu(approximate="tanh"),
    lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    *_WITH_EMPTY,
    errors=((lambda x: x.gelu("erf"), DomainError, "'none' or 'tanh'; 'erf' was given"),),
    dtypes="real",
)
row(
    "gelu",
    mt.gelu,
    lambda x: x * SPECS["erfc"].oracle(np, -x / np.sqrt(2)) / 2,
    *_ANY,
    dtypes="real",
)
row("softplus", lambda x: x.softplus(), lambda x: np.logaddexp(x, 0), *_WITH_EMPTY, dtypes="real")
row(
    "softplus",
    lambda x: x.softplus(2, 0.5),
    lambda x: np.where(2 * x > 0.5, x, np.logaddexp(2 * x, 0) / 2),
    *_MATRIX,
    dtypes="real",
)
row(
    "leaky_relu",
    lambda x: x.leaky_relu(),
    lambda x: np.where(x > 0, x, 0.01 * x),
    *_WITH_EMPTY,
    dtypes="real",
)
row(
    "prelu",
    lambda x, w: x.prelu(w),
    lambda x, w: np.where(x > 0, x, w.reshape(-1, *(1,) * (x.ndim - 2)) * x),
    ((2, 3), (3,)),
    ((2, 3, 4), (3,)),
    ((2, 3), ()),
    ((2, 3), (1,)),
    ((3,), ()),
    errors=(
        (lambda x: x.prelu(x), ShapeError, r"each of 3 channel\(s\), in a row; shape \(2, 3\)"),
        (lambda x: x.prelu(x[0].double()), DTypeError, "one dtype"),
    ),
    dtypes="real",
)
row(
    "elu", lambda x: x.elu(2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x)), *_ANY, dtypes="real"
)
row(
    "celu",
    lambda x: x.celu(2.0),
    lambda x: np.where(x > 0, x, 2 * np.expm1(x / 2)),
    *_ANY,
    errors=((lambda x: x.celu(0), DomainError, "must not be 0"),),
    dtypes="real",
)
row(
    "hardtanh",
    lambda x: x.hardtanh(-0.3, 0.5),
    lambda x: np.clip(x, -0.3, 0.5),
    *_WITH_EMPTY,
    errors=(
        (lambda x: x.hardtanh(1, 0), DomainError, "1 and 0 were given"),
        (lambda x: x.to("uint8").hardtanh(), DTypeError, "-1 is out of range for uint8"),
        (lambda x: x.bool().hardtanh(), DTypeError, "not defined on bool"),
    ),
    dtypes="number",
)
row("threshold", lambda x: x.threshold(0.3, 7), lambda x: np.where(x > 0.3, x, 7), *_WITH_EMPTY)
row("hardshrink", lambda x: x.hardshrink(), lambda x: np.where(abs(x) > 0.5, x, 0), *_ANY)
row(
    "softshrink",
    lambda x: x.softshrink(),
    lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
    *_ANY,
    errors=((lambda x: x.softshrink(-1), DomainError, "at least 0; -1 was given"),),
    dtypes="real",
)
row("tanhshrink", lambda x: x.tanhshrink(), lambda x: x - np.tanh(x), *_ANY, dtypes="real")
row(
    "glu",
    lambda x: x.glu(0),
    lambda x: x[: len(x) // 2] / (1 + np.exp(-x[len(x) // 2 :])),
    ((2, 3),),
    ((4,),),
    ((0, 3),),
    errors=(
        (lambda x: x.glu(), ShapeError, r"dimension -1 of a tensor of shape \(2, 3\)"),
        (lambda x: x.sum().glu(), ShapeError, "even extent"),
    ),
    dtypes="real",
)

# --- Comparing ----------------------------------------------------------------------------------

row(
    "isclose",
    lambda x, y: x.isclose(y, 0.5, 0.1),
    lambda x, y: np.isclose(x, y, 0.5, 0.1),
    *_PAIRS,
    differentiable=False,
    errors=(
        (lambda x: x.isclose(x.double()), DTypeError, "one dtype"),
        (lambda x: x.isclose(1.0), TypeError, "1.0 of type float"),
        (lambda x: x.isclose(x, rtol=-1), DomainError, "rtol is at least 0; -1 was given"),
        (lambda x: x.isclose(x, atol=np.nan), DomainError, "atol is at least 0; nan was given"),
    ),
    dtypes="truth",
)
for _change in (0, 1, 3):
    row(
        "allclose",
        lambda x, change=_change: mt.tensor(mt.allclose(x, x + change, atol=2), backend=x.backend),
        lambda x, change=_change: np.allclose(x, x + change, atol=2),
        *_WITH_EMPTY,
        differentiable=False,
        errors=(
            (lambda x: mt.allclose(x, 1.0), TypeError, "1.0 of type float"),  # type: ignore[arg-type]
        ),
        dtypes="truth of numbers",
    )
    row(
        "equal",
        lambda x, change=_change: mt.tensor(mt.equal(x, x + change), backend=x.backend),
        lambda x, change=_change: np.array_equal(x, x + change),
        *_WITH_EMPTY,
        differentiable=False,
        errors=(
            (lambda x: mt.equal(x, 1.0), TypeError, "1.0 of type float"),  # type: ignore[arg-type]
        ),
        dtypes="truth",
    )
_INFINITE = (lambda x: x.where(x > 0, -np.inf) * 2, lambda x: np.where(x > 0, x, -np.inf))
row(
    "isneginf",
    lambda x: _INFINITE[0](x).isneginf(),
    lambda x: np.isneginf(_INFINITE[1](x)),
    *_WITH_EMPTY,
    differentiable=False,
    dtypes="truth",
)
row(
    "isposinf",
    lambda x: (-_INFINITE[0](x)).isposinf(),
    lambda x: np.isneginf(_INFINITE[1](x)),
    *_WITH_EMPTY,
    differentiable=False,
    dtypes="truth",
)

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

# --- Division and whole numbers -----------------------------------------------------------------

_QUOTIENTS: tuple[Shapes, ...] = (((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 2), (1,)))
row(
    "div",
    lambda x, y: x.div(y + 50.0, rounding_mode="floor") + x,
    lambda x, y: np.floor_divide(x, y + 50.0) + x,
    *_QUOTIENTS,
    errors=(
        (lambda x: x.div(2, rounding_mode="up"), ValueError, "'up' was given"),
        (lambda x: x.long() // 0, DivisionByZeroError, "divided by zero"),
        (lambda x: x.long() % (x.long() - 2), DivisionByZeroError, "divided by zero"),
        (lambda x: (x > 0) // (x > 0), DTypeError, "floor_divide is not defined on bool"),
    ),
    dtypes="real",
)
row(
    "div",
    lambda x, y: x.div(y + -50.0, rounding_mode="trunc") + x,
    lambda x, y: np.trunc(x / (y - 50.0)) + x,
    *_QUOTIENTS,
    dtypes="real",
)
row(
    "divide", lambda x, y: x.divide(y + 9.0), lambda x, y: x / (y + 9.0), *_QUOTIENTS, dtypes="real"
)
row(
    "true_divide",
    lambda x, y: x.true_divide(y + 9.0),
    lambda x, y: x / (y + 9.0),
    *_QUOTIENTS,
    dtypes="real",
)
row(
    "bitwise_and",
    lambda x: (x.long() & 3) | (x.long() << 3) ^ ~x.long() >> 1,
    lambda x: (x.astype(int) & 3) | (x.astype(int) << 3) ^ ~x.astype(int) >> 1,
    *_WITH_EMPTY,
    differentiable=False,
    errors=(
        (lambda x: x & 1, DTypeError, "integers and bool; float32"),
        (lambda x: ~x, DTypeError, "integers and bool; float32"),
        (lambda x: (x > 0) << (x > 0), DTypeError, "not defined on bool"),
    ),
    dtypes="index",
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

_VECTORS: tuple[Shapes, ...] = (((3,), (3,)), ((1,), (1,)), ((0,), (0,)))
for _name in ("dot", "vdot"):
    row(
        _name,
        lambda x, y, n=_name: getattr(x, n)(y),
        np.dot,
        *_VECTORS,
        errors=(
            (lambda x, n=_name: getattr(x, n)(x), ShapeError, "takes 1-D and 1-D tensors"),
            (lambda x, n=_name: getattr(x[0], n)(x[1, :2]), ShapeError, "extents 3 and 2 differ"),
            (lambda x, n=_name: getattr(x[0], n)(1), TypeError, "takes tensors; 1"),
        ),
        dtypes="number",
    )
row(
    "mv",
    lambda x, y: x.mv(y),
    np.dot,
    ((2, 3), (3,)),
    ((0, 3), (3,)),
    errors=((lambda x: x.mv(x), ShapeError, r"mv\(\) takes 2-D and 1-D"),),
    dtypes="number",
)
row(
    "mm",
    lambda x, y: x.mm(y),
    np.dot,
    ((2, 3), (3, 2)),
    ((2, 0), (0, 3)),
    errors=((lambda x: x.mm(x[0]), ShapeError, r"mm\(\) takes 2-D and 2-D"),),
    dtypes="number",
)
row(
    "bmm",
    lambda x, y: x.bmm(y),
    np.matmul,
    ((2, 1, 3), (2, 3, 2)),
    ((0, 2, 3), (0, 3, 2)),
    errors=(
        (lambda x: x.bmm(x), ShapeError, "takes 3-D and 3-D"),
        (lambda x: x[None].bmm(x.T[None].expand(2, 3, 2)), ShapeError, "as many matrices"),
    ),
    dtypes="number",
)
for _name in ("outer", "ger"):
    row(
        _name,
        lambda x, y, n=_name: getattr(x, n)(y),
        np.outer,
        ((3,), (2,)),
        ((0,), (2,)),
        errors=((lambda x, n=_name: getattr(x, n)(x), ShapeError, "takes 1-D and 1-D"),),
    )
row(
    "inner",
    lambda x, y: x.inner(y),
    np.inner,
    *_VECTORS,
    ((2, 3), (4, 3)),
    ((2, 1, 3), (3,)),
    errors=((lambda x: x.inner(x.T), ShapeError, "last extents that are equal"),),
    dtypes="number",
)
row("inner", lambda x, y: x.inner(y), np.inner, ((), (2, 2)))
row("kron", lambda x, y: x.kron(y), np.kron, ((2, 3), (2, 2)), ((2,), (2, 1, 3)), ((), (3,)))
row(
    "cross",
    lambda x, y: x.cross(y, -1),
    np.cross,
    ((2, 3), (2, 3)),
    ((1, 3), (4, 3)),
    errors=(
        (lambda x: x.cross(x, 0), ShapeError, "needs the extent 3 there"),
        (lambda x: x.cross(x[0]), ShapeError, "tensors of one rank"),
        (lambda x: x[:, :2].cross(x[:, :2]), ShapeError, "a dimension of extent 3"),
        (lambda x: x.cross(x, 2), IndexingError, "dimension 2 is out of range"),
    ),
    dtypes="number",
)
row(
    "cross",
    lambda x, y: x.cross(y),
    lambda x, y: np.cross(x, y, axis=0),
    ((3, 2), (3, 2)),
    dtypes="number",
)
row(
    "cosine_similarity",
    mt.cosine_similarity,
    lambda x, y: (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1)),
    ((2, 3), (2, 3)),
    ((4, 3), (1, 3)),
    ((2, 3, 2), (2, 3, 2)),
    errors=(
        (lambda x: mt.cosine_similarity(x, x, 2), IndexingError, "dimension 2 is out of range"),
        (lambda x: x.inner(None), TypeError, "takes tensors; None"),
    ),
    dtypes="float",
)
row(
    "trace",
    lambda x: x.trace(),
    np.trace,
    ((3, 3),),
    ((2, 4),),
    ((0, 2),),
    errors=(
        (lambda x: x[0].trace(), ShapeError, "takes 2-D tensors"),
        (lambda x: (x > 0).trace(), DTypeError, "not defined on bool"),
    ),
    dtypes="sum of numbers",
)
for _power in (0, 1, 2, 5):
    row(
        "matrix_power",
        lambda x, n=_power: (x * 0.5).matrix_power(n),
        lambda x, n=_power: np.linalg.matrix_power(x * 0.5, n),
        ((2, 2),),
        ((3, 2, 2),),
        differentiable=_power > 0,
        errors=(
            (lambda x: x.matrix_power(2), ShapeError, "takes square matrices"),
            (lambda x: x[:, :2].matrix_power(-1), DomainError, "nothing is inverted"),
            (lambda x: x[:, :2].matrix_power(1.5), TypeError, "takes an integer"),
        ),
        dtypes="real",
    )
row(
    "multi_dot",
    lambda a, b, c, d: mt.linalg.multi_dot([a, b, c, d]),
    lambda a, b, c, d: np.linalg.multi_dot([a, b, c, d]),
    ((2, 3), (3, 1), (1, 4), (4, 2)),
    ((3,), (3, 4), (4, 2), (2,)),
    errors=(
        (lambda x: mt.linalg.multi_dot([x]), ShapeError, "at least two tensors"),
        (lambda x: mt.linalg.multi_dot([x, x]), ShapeError, "inner extents differ"),
        (lambda x: mt.linalg.multi_dot([x, x[0], x]), ShapeError, "1-D only at the ends"),
    ),
    dtypes="number",
)
row("chain_matmul", mt.chain_matmul, lambda a, b: a @ b, ((2, 3), (3, 2)), dtypes="number")
row(
    "tensordot",
    lambda x, y: mt.tensordot(x, y, ([0, -1], [1, 0])),
    lambda x, y: np.tensordot(x, y, ([0, -1], [1, 0])),
    ((2, 4, 3), (3, 2)),
    errors=(
        (lambda x: mt.tensordot(x, x, 1), ShapeError, "pairs dimension 1"),
        (lambda x: mt.tensordot(x, x, 3), ShapeError, "cannot sum over 3"),
        (lambda x: mt.tensordot(x, x, ([0], [0, 1])), ShapeError, "the numbers in"),
        (lambda x: mt.tensordot(x, x, "ij"), ShapeError, "got 'ij'"),
        (lambda x: mt.tensordot(x, x, ([0, 0], [0, 1])), IndexingError, "twice"),
    ),
    dtypes="number",
)
for _count in (0, 1, 2):
    row(
        "tensordot",
        lambda x, y, n=_count: mt.tensordot(x, y, n),
        lambda x, y, n=_count: np.tensordot(x, y, n),
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
        lambda *args, e=_equation: np.einsum(e, *args),
        *_shapes,
        dtypes="same" if _equation in _WITHOUT_SUM else "number",
        torch=_kept if _equation in _ADDED_UP else None,
    )
row(
    "einsum",
    lambda x, y: mt.einsum(x, [0, ...], y, [..., 0], [..., 0]),
    lambda x, y: np.einsum(x, [0, ...], y, [..., 0], [..., 0]),
    ((2, 3), (3, 2)),
    errors=(
        (lambda x: mt.einsum("ij,jk", x), EquationError, "1 tensor.s. and labels for 2"),
        (lambda x: mt.einsum("ijk", x), EquationError, r"3 label\(s\), but shape \(2, 3\)"),
        (lambda x: mt.einsum("i", x), EquationError, r"1 label\(s\), but shape \(2, 3\)"),
        (lambda x: mt.einsum("ij,jk", x, x), ShapeError, "extent 2 for 'j'"),
        (lambda x: mt.einsum("ii", x), ShapeError, "extent 3 for 'i'"),
        (lambda x: mt.einsum("ii", x[:1]), ShapeError, "repeats 'i'"),
        (lambda x: mt.einsum("ij->k", x), EquationError, "no operand has the output's 'k'"),
        (lambda x: mt.einsum("ij->ii", x), EquationError, "names 'i' more than once"),
        (lambda x: mt.einsum("i1", x), EquationError, "holds '1'"),
        (lambda x: mt.einsum("i..j", x), EquationError, "holds '.'"),
        (lambda x: mt.einsum("...i...", x), EquationError, "more than one ellipsis"),
        (lambda x: mt.einsum("ij->......", x), EquationError, "more than one ellipsis"),
        (lambda x: mt.einsum("ij", 1), TypeError, "takes tensors; 1"),
        (lambda x: mt.einsum(x, "ij"), EquationError, "'ij' was given as a list"),
        (lambda x: mt.einsum(x, [0, 1.5]), EquationError, "1.5 was given"),
        (lambda x: mt.einsum("ij->i", x > 0), DTypeError, "cannot add up bool"),
    ),
)

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
        lambda x, a, b, f=_product: 0.5 * x + 2 * f(a, b),
        *_shapes,
        dtypes="float",
    )
    row(
        f"{_name}_",
        lambda x, a, b, n=_name: getattr(x.detach().clone(), f"{n}_")(a.detach(), b.detach()),
        lambda x, a, b, f=_product: x + f(a, b),
        _shapes[0],
        differentiable=False,
        dtypes="same" if _name == "addr" else "number",
    )
row(
    "addmm",
    lambda x, a, b: (x / 0).addmm(a / 1, b / 1, beta=0),
    lambda x, a, b: a @ b,
    ((2, 2), (2, 3), (3, 2)),
    differentiable=False,
    errors=(
        (lambda x: x.addmm(x, x), ShapeError, "extents 3 and 2 differ"),
        (lambda x: x.addmm(x, x.T), ShapeError, "expand"),
        (lambda x: x.long().addmm(x.long(), x.long(), beta=0.5), ShapeError, "differ"),
        (
            lambda x: x[0, :2].long().addmm(x.long(), x.T.long(), beta=0.5),
            DTypeError,
            "takes an integer as beta; 0.5",
        ),
        (lambda x: x[0, :2].addmm(x, x.T, alpha="2"), TypeError, "alpha; '2'"),
    ),
    dtypes="real",
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


def _changed_by(name: str, *args: Any) -> Callable[..., Any]:
    """Return the call of a method that changes its tensor, with the arguments and no other."""
    return _in_place(lambda x, y: getattr(x, name)(*args))


def _operator_in_place(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the in-place form of an operator of the table, and its oracle."""
    arity, whole = OPERATORS[name].arity, name in WHOLE_SPECS
    values: Callable[..., Any] = WHOLE_SPECS[name] if whole else SPECS[name].oracle

    def call(x: Any, y: Any) -> Any:
        x, y = ((each.long() if whole else each).detach().clone() for each in (x, y))
        return getattr(x, f"{name}_")(*(y, y + 1)[: arity - 1])

    def oracle(x: Array, y: Array) -> Array:
        given = [each.astype(np.int64 if whole else np.float64) for each in (x, y, y + 1)[:arity]]
        with np.errstate(all="ignore"):
            return np.asarray(1.0 * values(np, *given))

    return call, oracle


_STORED = {"real": "float", "number": "number", "whole": "index", "truth": "same"}
"""The element types that the results of an operator can be stored in, by the kind of the result."""

_ON_BOOL = ("clamp_max", "clamp_min", "sign")
"""Operators of numbers that truth values have, too."""

_WITHOUT_ZEROS = ("floor_divide", "fmod", "pow", "remainder")
"""Operators that are undefined for some whole numbers, zero or less."""

for _name in (name for name in IN_PLACE if name in OPERATORS):
    _call, _oracle = _operator_in_place(_name)
    row(
        _name + "_",
        _call,
        _oracle,
        ((2, 3), (3,)),
        ((4,), ()),
        ((0, 2), (2,)),
        differentiable=False,
        positive=_name in _WITHOUT_ZEROS,
        dtypes="same" if _name in _ON_BOOL else _STORED[OPERATORS[_name].result],
    )


def _by_operators(x: Any, y: Any) -> None:
    x //= 2
    x **= 2
    x %= y


_Pair = Callable[[Any, Any], Any]
_WITH_SETTINGS: tuple[tuple[str, str, _Pair, _Pair], ...] = (
    (
        "addcdiv_",
        "float",
        lambda x, y: x.addcdiv_(y, y * y + 1),
        lambda x, y: x + y / (y * y + 1),
    ),
    ("addcmul_", "number", lambda x, y: x.addcmul_(y, y, value=2), lambda x, y: x + 2 * y * y),
    ("deg2rad_", "float", lambda x, y: x.deg2rad_(), lambda x, y: np.deg2rad(x)),
    ("frac_", "float", lambda x, y: x.frac_(), lambda x, y: np.fmod(x, 1)),
    (
        "heaviside_",
        "same",
        lambda x, y: x.masked_fill_(x > 0, 0).heaviside_(y),
        lambda x, y: np.where(x < 0, 0, y),
    ),
    ("ldexp_", "float", lambda x, y: x.ldexp_(y), lambda x, y: x * 2**y),
    ("logit_", "float", lambda x, y: x.sigmoid_().logit_(), lambda x, y: x),
    (
        "nan_to_num_",
        "float",
        lambda x, y: x.log_().nan_to_num_(0.5),
        lambda x, y: np.where(x > 0, np.log(abs(x)), 0.5),
    ),
    ("rad2deg_", "float", lambda x, y: x.rad2deg_(), lambda x, y: np.rad2deg(x)),
    ("reciprocal_", "float", lambda x, y: x.reciprocal_(), lambda x, y: 1 / x),
)
"""Changes in place by functions with settings: name, rule for element types, call and oracle."""

for _name, _rule, _changes, _wanted in _WITH_SETTINGS:
    row(
        _name,
        _in_place(_changes),
        _wanted,
        ((2, 3), (3,)),
        ((0, 2), (2,)),
        differentiable=False,
        dtypes=_rule,
    )
row(
    "float_power_",
    lambda x: x.detach().clone().double().float_power_(3),
    lambda x: x**3,
    ((2, 3),),
    ((0,),),
    differentiable=False,
    errors=((lambda x: x.float_power_(2), DTypeError, "cannot be stored in place in float32"),),
    dtypes="double",
)
row(
    "remainder_",
    _in_place(_by_operators),
    _in_place_oracle(_by_operators),
    ((2, 3), (3,)),
    differentiable=False,
    errors=(
        _RECORDED,
        (lambda x: x.long().exp_(), DTypeError, "float32 cannot be stored in place in int64"),
        (lambda x: x.bool().bitwise_or_(2), DTypeError, "int64 cannot be stored in place in bool"),
        (lambda x: x[0].pow_(x), ShapeError, r"shape \(2, 3\) cannot be stored in"),
        (lambda x: x.expand(2, 2, 3).exp_(), InPlaceError, "repeats elements"),
        (lambda x: x.bitwise_and_(1), DTypeError, "integers and bool"),
    ),
    dtypes="float",
)
_ALIASES: dict[str, Callable[..., Any]] = {
    "subtract_": np.subtract,
    "divide_": np.divide,
    "true_divide_": np.divide,
}
for _name, _oracle in _ALIASES.items():
    _call = _in_place(lambda x, y, n=_name: getattr(x, n)(y))  # type: ignore[misc]
    _stored = _STORED["real" if _oracle is np.divide else "number"]
    row(_name, _call, _oracle, ((2, 3), (3,)), differentiable=False, dtypes=_stored)
row(
    "div_",
    _in_place(lambda x, y: x.div_(y, rounding_mode="floor")),
    np.floor_divide,
    ((2, 3), (3,)),
    differentiable=False,
    dtypes="float",
)
_ALONG: dict[str, tuple[int, Callable[..., Any]]] = {
    "cumsum_": (0, np.cumsum),
    "cumprod_": (0, np.cumprod),
    "tril_": (-1, np.tril),
    "triu_": (-1, np.triu),
}
row(
    "multiply_",
    _in_place(lambda x, y: x.multiply_(y)),
    np.multiply,
    ((2, 3), (3,)),
    differentiable=False,
)
for _name, (_number, _oracle) in _ALONG.items():
    row(
        _name,
        _changed_by(_name, _number),
        lambda x, y, f=_oracle, n=_number: f(x, n),
        ((2, 3), ()),
        ((2, 3, 2), ()),
        differentiable=False,
        dtypes="number" if _name.startswith("cum") else "same",
    )
row(
    "fill_diagonal_",
    _in_place(lambda x, y: x.fill_diagonal_(7)),
    _in_place_oracle(lambda x, y: np.fill_diagonal(x, 7)),
    ((2, 3), ()),
    ((5, 2), ()),
    ((2, 2, 2), ()),
    differentiable=False,
    errors=((lambda x: x[0].fill_diagonal_(1), ShapeError, "needs a matrix"),),
)
row(
    "masked_fill_",
    _in_place(lambda x, y: x.masked_fill_(y > 0, 7)),
    lambda x, y: np.where(y > 0, 7.0, x),
    ((2, 3), (3,)),
    differentiable=False,
)
_AT = (lambda x: mt.tensor([2, 0], backend=x.backend), [2, 0])
row(
    "index_add_",
    _in_place(lambda x, y: x.index_add_(1, _AT[0](x), y)),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), _AT[1]), x[:, _AT[1]] + y)),
    ((2, 3), (2, 2)),
    differentiable=False,
)
row(
    "index_copy_",
    _in_place(lambda x, y: x.index_copy_(1, _AT[0](x), y)),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), _AT[1]), y)),
    ((2, 3), (2, 2)),
    differentiable=False,
)
row(
    "index_fill_",
    _in_place(lambda x, y: x.index_fill_(1, _AT[0](x), 7)),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), _AT[1]), 7)),
    ((2, 3), ()),
    differentiable=False,
)
row(
    "scatter_",
    _in_place(lambda x, y: x.scatter_(1, _AT[0](x).expand(2, 2), y)),
    _in_place_oracle(lambda x, y: x.__setitem__((slice(None), _AT[1]), y)),
    ((2, 3), (2, 2)),
    differentiable=False,
)
_ADDED = _in_place_oracle(lambda x, y: x.__setitem__((slice(None), _AT[1]), x[:, _AT[1]] + y))
row(
    "scatter_add_",
    _in_place(lambda x, y: x.scatter_add_(1, _AT[0](x).expand(2, 2), y)),
    _ADDED,
    ((2, 3), (2, 2)),
    differentiable=False,
)
row(
    "scatter_reduce_",
    _in_place(lambda x, y: x.scatter_reduce_(1, _AT[0](x).expand(2, 2), y, "sum")),
    _ADDED,
    ((2, 3), (2, 2)),
    differentiable=False,
)
row(
    "masked_scatter_",
    _in_place(lambda x, y: x.masked_scatter_(x > 0, y)),
    _in_place_oracle(lambda x, y: x.__setitem__(x > 0, y.reshape(-1)[: (x > 0).sum()])),
    ((2, 3), (2, 3)),
    differentiable=False,
)


def _places(x: Any) -> tuple[Any, Any]:
    """Return where `index_put` is tested, for torch, which takes no slices there."""
    rows, first = _AT[0](x), mt.tensor([0])
    return rows[:, None], first


row(
    "index_put_",
    _in_place(lambda x, y: x.index_put_((_AT[0](x), slice(1)), y, accumulate=True)),
    _in_place_oracle(lambda x, y: x.__setitem__((_AT[1], slice(1)), x[_AT[1], :1] + y)),
    ((3, 2), (2, 1)),
    differentiable=False,
    torch=_in_place(lambda x, y: x.index_put_(_places(x), y, accumulate=True)),
)
_MOVES: tuple[tuple[str, tuple[int, ...], Callable[..., Any]], ...] = (
    ("squeeze_", (1,), np.squeeze),
    ("unsqueeze_", (1,), np.expand_dims),
    ("transpose_", (0, -1), np.swapaxes),
    ("swapaxes_", (0, -1), np.swapaxes),
    ("swapdims_", (0, -1), np.swapaxes),
)
for _name, _dims, _oracle in _MOVES:
    row(
        _name,
        lambda x, n=_name, d=_dims: getattr(x.detach(), n)(*d),
        lambda x, f=_oracle, d=_dims: f(x, *d),
        ((2, 1, 3),),
        differentiable=False,
    )
# --- Copies with other elements in some places --------------------------------------------------

row(
    "index_copy",
    lambda x, y: x.index_copy(1, _AT[0](x), y),
    lambda x, y: np.stack([y[:, 1], x[:, 1], y[:, 0]], 1),
    ((2, 3), (2, 2)),
    ((1, 3, 2), (1, 2, 2)),
    errors=(
        (lambda x: x.index_copy(1, _AT[0](x), x), ShapeError, r"source of shape \(2, 2\)"),
        (lambda x: x.index_copy(0, _AT[0](x), x), IndexingError, "index 2 is out of range"),
        (lambda x: x.index_copy(1, x, x), ShapeError, "1-D index"),
        (lambda x: x.index_copy(0, _AT[0](x) // 2, x.double()), DTypeError, "float64 to float32"),
    ),
)
row(
    "index_fill",
    lambda x, y: x.index_fill(1, _AT[0](x), y),
    lambda x, y: np.stack([0 * x[:, 1] + y, x[:, 1], 0 * x[:, 1] + y], 1),
    ((2, 3), ()),
    ((1, 3, 2), ()),
    errors=(
        (lambda x: x.index_fill(1, _AT[0](x), x), ShapeError, "a number or a 0-D tensor"),
        (lambda x: x.index_fill(1, _AT[0](x), "1"), TypeError, "'1' was given"),
        (lambda x: x.index_fill(0, _AT[0](x), 1), IndexingError, "index 2 is out of range"),
    ),
)
row(
    "masked_scatter",
    lambda x, y: x.masked_scatter(mt.tensor([[True], [False]], backend=x.backend), y),
    lambda x, y: np.stack([y.reshape(-1)[:3], x.reshape(-1)[-3:]]),
    ((2, 3), (2, 2)),
    ((3,), (3,)),
    errors=(
        (lambda x: x.masked_scatter(x > 1, x[0, :2]), ShapeError, "the source has 2"),
        (lambda x: x.masked_scatter(x, x), DTypeError, "mask of bool; float32"),
        (lambda x: x.masked_scatter(x > 0, x.double()), DTypeError, "float64 to float32"),
    ),
)
row(
    "index_put",
    lambda x, y: x.index_put((_AT[0](x), slice(1)), y, accumulate=True),
    lambda x, y: np.concatenate(
        [np.stack([x[0, :1] + y[1], x[1, :1], x[2, :1] + y[0]]), x[:, 1:]], 1
    ),
    ((3, 2), (2, 1)),
    torch=lambda x, y: x.index_put(_places(x), y, accumulate=True),
    errors=(
        (lambda x: x.index_put(_AT[0](x), x), TypeError, "indices as a tuple"),
        (lambda x: x.index_put((_AT[0](x),), x), IndexingError, "index 2 is out of range"),
        (lambda x: x.index_put((_AT[0](x) // 2,), x.double()), DTypeError, "float64 to float32"),
        (lambda x: x.index_put((_AT[0](x) // 2,), x[:, :2]), ShapeError, "expand"),
    ),
)

# --- Mirrors and turns, single slices, diagonals ------------------------------------------------

_FROM_MATRIX: tuple[Shapes, ...] = (((2, 3),), ((3, 1),), ((2, 0),), ((2, 3, 2),))
row(
    "t",
    lambda x: x.t(),
    lambda x: x.T,
    ((2, 3),),
    ((3,),),
    ((),),
    errors=((lambda x: x[None].t(), ShapeError, "up to two dimensions"),),
)
row("t_", lambda x: x.detach().t_(), lambda x: x.T, ((2, 3),), differentiable=False)
row(
    "H",
    lambda x: x.H,
    lambda x: x.T,
    ((2, 3),),
    errors=((lambda x: x[0].H, ShapeError, "H is for matrices"),),
)
row("mH", lambda x: x.mH, lambda x: np.swapaxes(x, -1, -2), *_FROM_MATRIX)
row(
    "adjoint",
    lambda x: x.adjoint(),
    lambda x: np.swapaxes(x, -1, -2),
    *_FROM_MATRIX,
    errors=((lambda x: x[0].adjoint(), ShapeError, r"at least 2 dimension\(s\)"),),
)
row(
    "select",
    lambda x: x.select(-1, -1),
    lambda x: x[..., -1],
    ((2, 3),),
    ((4,),),
    ((3, 1, 2),),
    errors=(
        (lambda x: x.select(0, 2), IndexingError, "index 2 is out of range"),
        (lambda x: x.select(2, 0), IndexingError, "dimension 2 is out of range"),
        (lambda x: x.select(0, 1.0), IndexingError, "an integer index; 1.0"),
        (lambda x: x.sum().select(0, 0), ShapeError, "at least one dimension"),
    ),
)
row("ravel", lambda x: x.T.ravel(), lambda x: x.T.reshape(-1), *_WITH_EMPTY)
row(
    "fliplr",
    lambda x: x.fliplr(),
    np.fliplr,
    *_FROM_MATRIX,
    errors=((lambda x: x[0].fliplr(), ShapeError, r"at least 2 dimension\(s\)"),),
)
row(
    "flipud",
    lambda x: x.flipud(),
    np.flipud,
    *_FROM_MATRIX,
    ((3,),),
    errors=((lambda x: x.sum().flipud(), ShapeError, r"at least 1 dimension\(s\)"),),
)
for _turns in range(-1, 4):
    row(
        "rot90",
        lambda x, k=_turns: x.rot90(k, (-1, 0)),
        lambda x, k=_turns: np.rot90(x, k, (-1, 0)),
        *_FROM_MATRIX,
        errors=(
            (lambda x: x[0].rot90(), ShapeError, r"at least 2 dimension\(s\)"),
            (lambda x: x.rot90(1, (0,)), ShapeError, "two dimensions"),
            (lambda x: x.rot90(1, (0, -2)), IndexingError, "twice"),
        ),
    )
row(
    "diag_embed",
    lambda x: x.diag_embed(1),
    lambda x: np.pad(
        x[..., None] * np.eye(x.shape[-1]), [(0, 0)] * (x.ndim - 1) + [(0, 1), (1, 0)]
    ),
    ((3,),),
    ((2, 3),),
    ((2, 0),),
    errors=(
        (lambda x: x.diag_embed(0, 1, -2), IndexingError, "are the same"),
        (lambda x: x.sum().diag_embed(), ShapeError, r"at least 1 dimension\(s\)"),
    ),
)
row("diagflat", lambda x: x.diagflat(-1), lambda x: np.diagflat(x, -1), *_WITH_EMPTY)
row("moveaxis", lambda x: x.moveaxis(0, -1), lambda x: np.moveaxis(x, 0, -1), *_MATRIX)

# --- Counting, and places in the order ----------------------------------------------------------

row(
    "unique",
    lambda x: (x > 0).float().unique(return_counts=True)[1],
    lambda x: np.unique(x > 0, return_counts=True)[1],
    *_WITH_EMPTY,
    differentiable=False,
    errors=((lambda x: x.unique(dim=2), IndexingError, "dimension 2 is out of range"),),
    dtypes="index",
)
row(
    "unique_consecutive",
    lambda x: (x > 0).long().unique_consecutive(dim=0),
    lambda x: (x > 0)[np.r_[True, ((x > 0)[1:] != (x > 0)[:-1]).reshape(len(x) - 1, -1).any(1)]],
    ((5,),),
    ((4, 1),),
    differentiable=False,
    dtypes="index",
)
row(
    "bincount",
    lambda x: (x > 0).long().bincount(minlength=3),
    lambda x: np.bincount((x > 0).astype(int), minlength=3),
    ((5,),),
    ((0,),),
    differentiable=False,
    errors=(
        (lambda x: x.bincount(), ShapeError, "takes 1-D tensors"),
        (lambda x: x[0].bincount(), DTypeError, "counts integers; float32"),
        (lambda x: (-x[0].long()).bincount(), DomainError, "-3 was given"),
        (lambda x: x[0].long().bincount(minlength=-1), DomainError, "minlength is an integer"),
    ),
    dtypes="index",
)
row("msort", lambda x: x.msort(), lambda x: np.sort(x, 0), *_MATRIX, ((5,),))
row(
    "kthvalue",
    lambda x: x.kthvalue(2).values,
    lambda x: np.sort(x)[..., 1],
    ((2, 3),),
    ((4,),),
    errors=(
        (lambda x: x.kthvalue(4), ShapeError, "number 4 of 3"),
        (lambda x: x.kthvalue(1.0), TypeError, "an integer k; 1.0"),
    ),
)
for _way in ("linear", "lower", "higher", "midpoint", "nearest"):
    row(
        "quantile",
        lambda x, w=_way: x.quantile(0.3, -1, interpolation=w),
        lambda x, w=_way: np.quantile(x, 0.3, -1, method=w),
        *_MATRIX,
        ((7,),),
        errors=(
            (lambda x: x.quantile(1.5), DomainError, "from 0 to 1; 1.5"),
            (lambda x: x.quantile("1"), TypeError, "'1' was given"),
            (lambda x: x.long().quantile(0.5), DTypeError, "int64 was given"),
            (lambda x: x.quantile(x[0].double()), DTypeError, "takes q of that dtype; float64"),
            (lambda x: x[:0].quantile(0.5), ShapeError, "no elements"),
            (lambda x: x.quantile(0.5, interpolation="mean"), ValueError, "'mean' was given"),
        ),
        dtypes="wide float",
    )
row(
    "quantile", lambda x: x.quantile(0.3), lambda x: np.quantile(x, 0.3), *_ANY, dtypes="wide float"
)
row(
    "nanquantile",
    lambda x: _NOT_A_NUMBER[0](x).nanquantile(0.6),
    lambda x: np.nanquantile(_NOT_A_NUMBER[1](x), 0.6),
    *_MATRIX,
    dtypes="wide real",
)
row(
    "diff",
    lambda x: x.diff(2, 0),
    lambda x: np.diff(x, 2, 0),
    ((4, 2),),
    ((3,),),
    ((2, 2),),
    errors=(
        (lambda x: x.sum().diff(), ShapeError, "at least one dimension"),
        (lambda x: x.diff(-1), DomainError, "-1 was given"),
    ),
)

# --- Views of a copy, replaced; places of the flattened tensor ----------------------------------

row(
    "select_scatter",
    lambda x, y: x.select_scatter(y, 1, -1),
    lambda x, y: np.concatenate([x[:, :-1], y[:, None]], 1),
    ((2, 3), (2,)),
    ((2, 3, 2), (2, 2)),
    errors=(
        (lambda x: x.select_scatter(x, 0, 0), ShapeError, r"src of shape \(3,\); \(2, 3\)"),
        (lambda x: x.select_scatter(x[0], 0, 2), IndexingError, "index 2 is out of range"),
    ),
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
    errors=((lambda x: x.slice_scatter(x[:1]), ShapeError, r"src of shape \(2, 3\); \(1, 3\)"),),
)
row(
    "diagonal_scatter",
    lambda x, y: x.diagonal_scatter(y, 1),
    lambda x, y: np.where(np.eye(2, 3, 1) == 1, y[:, None], x),
    ((2, 3), (2,)),
    errors=(
        (lambda x: x.diagonal_scatter(x[0]), ShapeError, r"src of shape \(2,\); \(3,\)"),
        (lambda x: x.diagonal_scatter(x[0], 0, 1, 1), IndexingError, "are the same"),
    ),
)
row(
    "take",
    lambda x: x.T.take(mt.tensor([[0, -1], [1, 1]], backend=x.backend)),
    lambda x: x.T.reshape(-1)[[[0, -1], [1, 1]]],
    ((2, 3),),
    ((2,),),
    errors=(
        (lambda x: x.take(x), DTypeError, "index of int64; float32"),
        (lambda x: x.take(x.long()), IndexingError, "index 6 is out of range"),
    ),
)
row(
    "argwhere",
    lambda x: (x > 0).argwhere(),
    lambda x: np.argwhere(x > 0),
    *_MATRIX,
    differentiable=False,
    dtypes="index",
)
