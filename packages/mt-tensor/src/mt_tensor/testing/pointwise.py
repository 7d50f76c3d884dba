"""Samples of elementwise operations that are more than a row of the operator table."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import mt_tensor as mt
from mt_tensor.errors import DivisionByZeroError
from mt_tensor.testing.specs import (
    ANY,
    MATRIX,
    PAIRS,
    WITH_EMPTY,
    Shapes,
    bad_call,
    row,
    single,
    with_nan,
)

_real = partial(row, dtypes="real")
"""Add a row of an operation that converts integers to floating-point numbers."""

# --- Element-wise, with settings ----------------------------------------------------------------

row("add", lambda x, y: x.add(y, alpha=2), ((2, 3), (3,)), ((0, 3), ()))
row("sub", lambda x, y: mt.sub(x, y, alpha=-0.5), ((2, 3), (2, 1)), dtypes="float")
row("subtract", lambda x, y: x.subtract(y, alpha=2), ((2, 3), (3,)), dtypes="number")
row("pow", lambda x: mt.pow(2, exponent=x), *WITH_EMPTY, dtypes="sum of bool", positive=True)
row("float_power", lambda x: x.float_power(3).to(x.dtype), *ANY)
_real("ldexp", lambda x, y: x.ldexp(y), ((2, 3), (3,)))
_real("logaddexp2", mt.logaddexp2, ((2, 3), (3,)), ((), (1,)))
row("addcmul", lambda x, y, z: x.addcmul(y, z, value=0.5), ((2, 3), (3,), (2, 1)), dtypes="float")
row(
    "addcdiv",
    lambda x, y, z: x.addcdiv(y, z, value=2),
    ((2, 3), (3,), (2, 1)),
    positive=True,
    dtypes="float",
)
row("lerp", lambda x, y: x.lerp(y, 0.75), ((2, 3), (3,)), dtypes="float")
row("lerp", mt.lerp, ((2, 3), (3,), (2, 1)), dtypes="float")
_real("clamp", lambda x: x.clamp(-0.3, 0.5), *WITH_EMPTY)
row("clamp", lambda x, y: x.clamp(max=y), ((2, 3), (2, 1)))
row("clamp", mt.clamp, ((2, 3), (3,), (2, 1)), dtypes="number")
row("clamp_min", lambda x, y: x.clamp_min(y), ((2, 3), (2, 1)))
_real("clamp_max", lambda x: mt.clamp_max(x, 0.2), *ANY)
_real("clip", lambda x: x.clip(0.25), *ANY)
_real("fmax", lambda x, y: with_nan(x).fmax(y), *PAIRS)
_real("fmin", lambda x, y: x.fmin(with_nan(y)), *PAIRS)
_real("nan_to_num", lambda x: with_nan(x).nan_to_num(0.5), *WITH_EMPTY)
row("frac", lambda x: (2 * x).frac(), *MATRIX, dtypes="float")
row("positive", lambda x: x.positive() * 2, *ANY, dtypes="number")
row("heaviside", lambda x, y: (x * (x > 0)).heaviside(y), ((2, 3), (3,)))
row("nextafter", mt.nextafter, *PAIRS, dtypes="float", optional=True)
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
_real("elu", lambda x: x.elu(2.0), *ANY)
_real("celu", lambda x: x.celu(2.0), *ANY)
row("hardtanh", lambda x: x.hardtanh(-0.3, 0.5), *WITH_EMPTY, dtypes="number")
row("threshold", lambda x: x.threshold(0.3, 7), *WITH_EMPTY)
row("hardshrink", lambda x: x.hardshrink(), *ANY)
_real("softshrink", lambda x: x.softshrink(), *ANY)
_real("tanhshrink", lambda x: x.tanhshrink(), *ANY)
_real("glu", lambda x: x.glu(0), *single((2, 3), (4,), (0, 3)))

# --- Comparing ----------------------------------------------------------------------------------

row("isclose", lambda x, y: x.isclose(y, 0.5, 0.1), *PAIRS, dtypes="bool")
for _change in (0, 1, 3):
    row(
        "allclose",
        lambda x, change=_change: mt.tensor(mt.allclose(x, x + change, atol=2), backend=x.backend),
        *WITH_EMPTY,
        dtypes="bool of numbers",
    )
    row(
        "equal",
        lambda x, change=_change: mt.tensor(mt.equal(x, x + change), backend=x.backend),
        *WITH_EMPTY,
        dtypes="bool",
    )


def _infinite(x: Any) -> Any:
    return x.where(x > 0, -np.inf) * 2


row("isneginf", lambda x: _infinite(x).isneginf(), *WITH_EMPTY, dtypes="bool")
row("isposinf", lambda x: (-_infinite(x)).isposinf(), *WITH_EMPTY, dtypes="bool")

# --- Division and integers ----------------------------------------------------------------------

_QUOTIENTS: tuple[Shapes, ...] = (((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((0, 2), (1,)))
_real("div", lambda x, y: x.div(y + 50.0, rounding_mode="floor") + x, *_QUOTIENTS)
bad_call("div", lambda x: x.long() // 0, DivisionByZeroError, "divided by zero")
bad_call("div", lambda x: x.long() % (x.long() - 2), DivisionByZeroError, "divided by zero")
_real("div", lambda x, y: x.div(y + -50.0, rounding_mode="trunc") + x, *_QUOTIENTS)
_real("divide", lambda x, y: x.divide(y + 9.0), *_QUOTIENTS)
_real("true_divide", lambda x, y: x.true_divide(y + 9.0), *_QUOTIENTS)
row(
    "bitwise_and",
    lambda x: x.long() & 3 | x.long() << 3 ^ ~x.long() >> 1,
    *WITH_EMPTY,
    dtypes="index",
)
