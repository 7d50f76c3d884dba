"""What NumPy has for operators: its ufuncs, and functions that are called like these.

Operators that are in neither table are lifted from their graph (`source.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mt_operators.elementary import ROUNDING
from mt_tensor.backends.error_function import erf, erfc
from mt_tensor.backends.numpy.blocks import LARGE, in_blocks
from mt_tensor.backends.silence import silently
from mt_tensor.dtypes import Array, Number

UFUNCS: dict[str, np.ufunc] = {
    "neg": np.negative,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "pow": np.power,
    "square": np.square,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "abs": np.absolute,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "clamp_min": np.maximum,
    "clamp_max": np.minimum,
    "copysign": np.copysign,
    "logaddexp": np.logaddexp,
    "floor_divide": np.floor_divide,
    "fmod": np.fmod,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "logical_not": np.logical_not,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_not": np.bitwise_not,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "gcd": np.gcd,
}
"""Operators that NumPy has as a ufunc."""


def _rounding(ufunc: np.ufunc) -> Callable[..., Any]:
    """Return a ufunc that rounds as a function that leaves whole numbers as they are.

    The ufunc would make them floats, which do not hold every integer beyond 2**53.
    """

    def rounded(x: Any, **options: Any) -> Any:
        whole = np.asarray(x).dtype.kind in "iu"
        return (np.positive if whole else ufunc)(x, **options)

    return rounded


def _sign(x: Any, **options: Any) -> Any:
    """Return the ufunc's result, which needs numbers: truth values are read as 0 and 1."""
    x = np.asarray(x)
    return np.sign(x.view(np.uint8) if x.dtype == np.bool_ else x, **options)


def _sigmoid(x: Any, out: Array | None = None, casting: Any = "same_kind") -> Any:
    """Return `1 / (1 + exp(-x))` of each element; called like a ufunc.

    Where the exponential overflows the result is 0, beside which there are only subnormal numbers.
    float16 is computed with in float32, and so keeps these too.
    """
    x = np.asarray(x)
    if out is None and x.size >= LARGE:
        return in_blocks(_sigmoid, x)
    result = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    computed = np.float32 if result == np.float16 else result
    decay = np.asarray(np.negative(x, dtype=computed))
    np.exp(decay, out=decay)
    decay += 1
    if out is None:
        out = decay if result == computed else np.empty(x.shape, result)
    return np.divide(1, decay, out=out, casting=casting)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **UFUNCS,
    "erf": erf,
    "erfc": erfc,
    "sigmoid": _sigmoid,
    "sign": _sign,
    "clamp": np.clip,
    "hardtanh": np.clip,
    **{name: _rounding(np.rint if name == "round" else getattr(np, name)) for name in ROUNDING},
}
"""Operators that are one call on whole arrays. The others are lifted from their source."""


def typed(number: Number, dtype: np.dtype[Any]) -> Array:
    """Return a number as an array, which NumPy takes in half the time of a Python number."""
    fraction = not math.isfinite(number) or number != int(number)
    exact = np.float64 if dtype.kind in "iu" and fraction else dtype
    array: Array = silently(np.asarray(number).astype, exact)
    return array
