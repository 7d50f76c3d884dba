"""Samples of operations element by element that take more than a row of the operator table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.errors import DivisionByZeroError, DomainError, DTypeError, IndexingError, ShapeError
from mt_tensor.testing.specs import (
    ANY,
    MATRIX,
    PAIRS,
    WITH_EMPTY,
    Shapes,
    refused,
    row,
    single,
    with_nan,
)

_real = partial(row, dtypes="real")
"""A row of an operation that makes floating-point numbers of integers."""

# --- Element-wise, with settings ----------------------------------------------------------------

row("add", lambda x, y: x.add(y, alpha=2), ((2, 3), (3,)), ((0, 3), ()))
refused("add", lambda x: mt.add(1, 2), TypeError, r"add\(\) takes tensors; 1 of type int")
refused("add", lambda x: x.add(x, alpha="2"), TypeError, "alpha must be a number; '2' of type str")
refused(
    "add", lambda x: x.long().add(1, alpha=0.5), DTypeError, "alpha=0.5 does not fit .* integer"
)
refused("add", lambda x: x.add(x, alpha=True), DTypeError, "alpha=True does not fit .* float")
row("sub", lambda x, y: mt.sub(x, y, alpha=-0.5), ((2, 3), (2, 1)), dtypes="float")
refused("sub", lambda x: x.bool().sub(x.bool()), DTypeError, "use ne")
row("subtract", lambda x, y: x.subtract(y, alpha=2), ((2, 3), (3,)), dtypes="number")
refused("subtract", lambda x: x.bool().sub(x.bool(), alpha=2), DTypeError, "use ne")
row("pow", lambda x: mt.pow(2, exponent=x), *WITH_EMPTY, dtypes="sum of bool", positive=True)
row("float_power", lambda x: x.float_power(3).to(x.dtype), *ANY)
_real("ldexp", lambda x, y: x.ldexp(y), ((2, 3), (3,)))
_real("logaddexp2", mt.logaddexp2, ((2, 3), (3,)), ((), (1,)))
row("addcmul", lambda x, y, z: x.addcmul(y, z, value=0.5), ((2, 3), (3,), (2, 1)), dtypes="float")
refused("addcmul", lambda x: x.addcmul(2, x), TypeError, "2 of type int")
refused(
    "addcmul", lambda x: x.long().addcmul(x.long(), x.long(), value=0.5), DTypeError, "value=0.5"
)
row(
    "addcdiv",
    lambda x, y, z: x.addcdiv(y, z, value=2),
    ((2, 3), (3,), (2, 1)),
    positive=True,
    dtypes="float",
)
refused("addcdiv", lambda x: x.addcdiv(x.long(), x.long()), DTypeError, "needs floating-point")
row("lerp", lambda x, y: x.lerp(y, 0.75), ((2, 3), (3,)), dtypes="float")
refused("lerp", lambda x: x.lerp(x.double(), 0.5), DTypeError, "float32, float64 were given")
refused("lerp", lambda x: x.long().lerp(x.long(), 0.5), DTypeError, "needs floating-point")
refused("lerp", lambda x: x.lerp(1.0, 0.5), TypeError, "1.0 of type float")
row("lerp", mt.lerp, ((2, 3), (3,), (2, 1)), dtypes="float")
_real("clamp", lambda x: x.clamp(-0.3, 0.5), *WITH_EMPTY)
refused("clamp", lambda x: x.clamp(), DomainError, "needs min, max or both")
refused("clamp", lambda x: x.clamp("a"), TypeError, "was given 'a' of type str")
refused("clamp", lambda x: x.bool().clamp(False, True), DTypeError, "not defined on bool")
refused(
    "clamp", lambda x: x.to("uint8").clamp(min=300), DTypeError, "300 is out of range for uint8"
)
refused("clamp", lambda x: x.clamp(max=x[:, :2]), IndexingError, "do not broadcast")
row("clamp", lambda x, y: x.clamp(max=y), ((2, 3), (2, 1)))
row("clamp", mt.clamp, ((2, 3), (3,), (2, 1)), dtypes="number")
row("clamp_min", lambda x, y: x.clamp_min(y), ((2, 3), (2, 1)))
_real("clamp_max", lambda x: mt.clamp_max(x, 0.2), *ANY)
_real("clip", lambda x: x.clip(0.25), *ANY)
_real("fmax", lambda x, y: with_nan(x).fmax(y), *PAIRS)
_real("fmin", lambda x, y: x.fmin(with_nan(y)), *PAIRS)
_real("nan_to_num", lambda x: with_nan(x).nan_to_num(0.5), *WITH_EMPTY)
row("frac", lambda x: (2 * x).frac(), *MATRIX, dtypes="float")
refused("frac", lambda x: x.long().frac(), DTypeError, "needs floating-point elements; int64")
row("positive", lambda x: x.positive() * 2, *ANY, dtypes="number")
refused("positive", lambda x: x.bool().positive(), DTypeError, "not defined on bool")
row("heaviside", lambda x, y: (x * (x > 0)).heaviside(y), ((2, 3), (3,)))
refused("heaviside", lambda x: x.heaviside(x.double()), DTypeError, "one dtype; float32, float64")
_real("deg2rad", lambda x: x.deg2rad(), *ANY)
_real("rad2deg", lambda x: x.rad2deg(), *ANY)
_real("logit", lambda x: (x / 4).sigmoid().logit(), *WITH_EMPTY)
_real("logit", lambda x: x.logit(0.25), *MATRIX)
_real(
    "logit",
    lambda x: x.logit(0.75),
    *MATRIX,
    oracle=lambda x: np.where(x < 0.75, 1, -1) * np.log(3),
)
_real("gelu", lambda x: x.gelu(approximate="tanh"), *WITH_EMPTY)
refused("gelu", lambda x: x.gelu(approximate="erf"), DomainError, "'none', 'tanh'; 'erf' was given")
_real("gelu", mt.gelu, *ANY)
_real("softplus", lambda x: x.softplus(), *WITH_EMPTY)
_real("softplus", lambda x: x.softplus(2, 0.5), *MATRIX)
_real("leaky_relu", lambda x: x.leaky_relu(), *WITH_EMPTY)
_real(
    "prelu",
    lambda x, w: x.prelu(w),
    ((2, 3), (3,)),
    ((2, 3, 4), (3,)),
    ((2, 3), ()),
    ((2, 3), (1,)),
    ((3,), ()),
    oracle=lambda x, w: np.where(x > 0, x, w.reshape(-1, *(1,) * (x.ndim - 2)) * x),
)
refused(
    "prelu", lambda x: x.prelu(x), ShapeError, r"each of 3 channel\(s\), in a row; shape \(2, 3\)"
)
refused("prelu", lambda x: x.prelu(x[0].double()), DTypeError, "one dtype")
_real("elu", lambda x: x.elu(2.0), *ANY)
_real("celu", lambda x: x.celu(2.0), *ANY)
refused("celu", lambda x: x.celu(0), DomainError, "must not be 0")
row("hardtanh", lambda x: x.hardtanh(-0.3, 0.5), *WITH_EMPTY, dtypes="number")
refused("hardtanh", lambda x: x.hardtanh(1, 0), DomainError, "1 and 0 were given")
refused("hardtanh", lambda x: x.to("uint8").hardtanh(), DTypeError, "-1 is out of range for uint8")
refused("hardtanh", lambda x: x.bool().hardtanh(), DTypeError, "not defined on bool")
row("threshold", lambda x: x.threshold(0.3, 7), *WITH_EMPTY)
row("hardshrink", lambda x: x.hardshrink(), *ANY)
_real("softshrink", lambda x: x.softshrink(), *ANY)
refused("softshrink", lambda x: x.softshrink(-1), DomainError, "at least 0; -1 was given")
_real("tanhshrink", lambda x: x.tanhshrink(), *ANY)
_real("glu", lambda x: x.glu(0), *single((2, 3), (4,), (0, 3)))
refused("glu", lambda x: x.glu(), ShapeError, r"dimension -1 of a tensor of shape \(2, 3\)")
refused("glu", lambda x: x.sum().glu(), ShapeError, "even size")

# --- Comparing ----------------------------------------------------------------------------------

row("isclose", lambda x, y: x.isclose(y, 0.5, 0.1), *PAIRS, dtypes="truth")
refused("isclose", lambda x: x.isclose(x.double()), DTypeError, "one dtype")
refused("isclose", lambda x: x.isclose(1.0), TypeError, "1.0 of type float")
refused("isclose", lambda x: x.isclose(x, rtol=-1), DomainError, "rtol is at least 0; -1 was given")
refused(
    "isclose", lambda x: x.isclose(x, atol=np.nan), DomainError, "atol is at least 0; nan was given"
)
for _change in (0, 1, 3):
    row(
        "allclose",
        lambda x, change=_change: mt.tensor(mt.allclose(x, x + change, atol=2), backend=x.backend),
        *WITH_EMPTY,
        dtypes="truth of numbers",
    )
    row(
        "equal",
        lambda x, change=_change: mt.tensor(mt.equal(x, x + change), backend=x.backend),
        *WITH_EMPTY,
        dtypes="truth",
    )
refused("allclose", lambda x: mt.allclose(x, 1.0), TypeError, "1.0 of type float")  # type: ignore[arg-type]
refused("equal", lambda x: mt.equal(x, 1.0), TypeError, "1.0 of type float")  # type: ignore[arg-type]


def _infinite(x: Any) -> Any:
    return x.where(x > 0, -np.inf) * 2


row("isneginf", lambda x: _infinite(x).isneginf(), *WITH_EMPTY, dtypes="truth")
row("isposinf", lambda x: (-_infinite(x)).isposinf(), *WITH_EMPTY, dtypes="truth")

# --- Division and whole numbers -----------------------------------------------------------------

_QUOTIENTS: tuple[Shapes, ...] = (((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 2), (1,)))
_real("div", lambda x, y: x.div(y + 50.0, rounding_mode="floor") + x, *_QUOTIENTS)
refused("div", lambda x: x.div(2, rounding_mode="up"), DomainError, "'up' was given")
refused("div", lambda x: x.long() // 0, DivisionByZeroError, "divided by zero")
refused("div", lambda x: x.long() % (x.long() - 2), DivisionByZeroError, "divided by zero")
refused("div", lambda x: (x > 0) // (x > 0), DTypeError, r"floor_divide\(\) is not defined on bool")
_real("div", lambda x, y: x.div(y + -50.0, rounding_mode="trunc") + x, *_QUOTIENTS)
_real("divide", lambda x, y: x.divide(y + 9.0), *_QUOTIENTS)
_real("true_divide", lambda x, y: x.true_divide(y + 9.0), *_QUOTIENTS)
row(
    "bitwise_and",
    lambda x: x.long() & 3 | x.long() << 3 ^ ~x.long() >> 1,
    *WITH_EMPTY,
    dtypes="index",
)
refused("bitwise_and", lambda x: x & 1, DTypeError, "integers and bool; float32")
refused("bitwise_and", lambda x: ~x, DTypeError, "integers and bool; float32")
refused("bitwise_and", lambda x: (x > 0) << (x > 0), DTypeError, "not defined on bool")
