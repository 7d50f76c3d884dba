"""Run formulas on 16-bit arrays in float32, and round only the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.core.casting import to_float32
from mt_tensor.core.dtypes import Array
from mt_tensor.core.numpy_backend import Function
from mt_tensor.core.numpy_functions import SPECIAL_CASES


def in_float32(function: Function) -> Function:
    """Return a function that converts 16-bit arrays to float32 first; bool arrays are unchanged."""

    def of_narrow(*arrays: Array) -> Any:
        wide = map(to_float32, arrays)
        return function(*[a if a.dtype == np.bool_ else a.astype(np.float32) for a in wide])

    return of_narrow


SPECIAL_CASES["16 bits"] = in_float32
