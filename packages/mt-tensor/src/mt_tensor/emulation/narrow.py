"""Formulas of 16 bits on NumPy's arrays: every step in float32, and only the result rounded."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.core.casting import to_float32
from mt_tensor.core.dtypes import Array
from mt_tensor.core.numpy_backend import Function
from mt_tensor.core.numpy_functions import SPECIAL_CASES


def in_float32(function: Function) -> Function:
    """Return a function of arrays of 16 bits, or bool, whose steps are all in float32."""

    def of_narrow(*arrays: Array) -> Any:
        wide = map(to_float32, arrays)
        return function(*[a if a.dtype == np.bool_ else a.astype(np.float32) for a in wide])

    return of_narrow


SPECIAL_CASES["16 bits"] = in_float32
