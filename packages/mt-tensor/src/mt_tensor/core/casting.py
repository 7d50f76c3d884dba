"""Convert arrays and numbers between dtypes, including bfloat16.

NumPy has no bfloat16. Code that computes with NumPy reads arrays through `to_float32`, and stores
results with `cast_array` or `assign`. Arrays of other dtypes pass through unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mt_tensor.core.dtypes import Array, DType, Number, as_dtype, bfloat16


class Emulation(NamedTuple):
    """Conversions between arrays of NumPy's dtypes and arrays of a dtype that NumPy lacks."""

    to_float32: Callable[[Array], Array]
    from_array: Callable[[Array], Array]


EMULATED: dict[DType, Emulation] = {}
"""The emulation of bfloat16, registered by `emulation/`."""


def dtype_of(array: Array) -> DType:
    """Return the DType of a backend's array.

    Raises:
        DTypeError: there is no DType for this NumPy dtype.
    """
    return bfloat16 if array.dtype == bfloat16.numpy else as_dtype(array.dtype)


def to_float32(array: Any) -> Any:
    """Convert a bfloat16 array or element to float32; return any other unchanged."""
    return array if array.dtype != bfloat16.numpy else EMULATED[bfloat16].to_float32(array)


def cast_array(array: Array, dtype: DType) -> Array:
    """Convert an array to a dtype: floats are rounded once, integers wrap around."""
    if array.dtype == dtype.numpy:
        return array
    if dtype is not bfloat16:
        return np.asarray(to_float32(array).astype(dtype.numpy))
    with np.errstate(all="ignore"):
        return EMULATED[bfloat16].from_array(array)


def element(value: Number, dtype: DType) -> Any:
    """Convert a number to a value that can be stored in an array of this dtype."""
    number = dtype.convert(value)
    return cast_array(np.asarray(number), dtype) if dtype is bfloat16 else number


def assign(target: Array, values: Array) -> None:
    """Store values in an array, rounding or wrapping around; the shapes broadcast."""
    if target.dtype is not values.dtype and bfloat16.numpy in (target.dtype, values.dtype):
        values = cast_array(values, dtype_of(target))
    np.copyto(target, values, casting="unsafe")
