"""Functions of arrays beside NumPy's own, called like its ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_tensor.backends.numpy import functions
from mt_tensor.dtypes import Array
from mt_tensor.library.backends.numpy.blocks import LARGE, in_blocks
from mt_tensor.library.backends.numpy.error_function import erf, erfc


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
    **functions.FUNCTIONS,
    "erf": erf,
    "erfc": erfc,
    "sigmoid": _sigmoid,
    "sign": _sign,
    "clamp": np.clip,
    "hardtanh": np.clip,
}
"""Operators that are one call on whole arrays. The others become source (`source.py`)."""
