"""Arrays and numbers as another dtype, and as NumPy can compute with them.

NumPy lacks bfloat16: what computes with NumPy reads arrays by `to_float32`, and stores results by
`cast_array` or `assign`. Arrays of other dtypes pass through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mt_tensor.core.dtypes import Array, DType, Number, as_dtype, bfloat16


class Emulation(NamedTuple):
    """How arrays of a dtype that NumPy lacks are converted to float32, and from any dtype."""

    to_float32: Callable[[Array], Array]
    from_array: Callable[[Array], Array]


EMULATED: dict[DType, Emulation] = {}
"""The emulation of bfloat16, which `emulation/` adds."""


def dtype_of(array: Array) -> DType:
    """Return the DType of an array that a backend holds.

    Raises:
        DTypeError: tensors have no such dtype.
    """
    return bfloat16 if array.dtype == bfloat16.numpy else as_dtype(array.dtype)


def to_float32(array: Any) -> Any:
    """Return an array of bfloat16, or an element, as float32; any other as it is."""
    return array if array.dtype != bfloat16.numpy else EMULATED[bfloat16].to_float32(array)


def cast_array(array: Array, dtype: DType) -> Array:
    """Return an array as one of another dtype: rounded once, or wrapped around."""
    if array.dtype == dtype.numpy:
        return array
    if dtype is not bfloat16:
        return np.asarray(to_float32(array).astype(dtype.numpy))
    with np.errstate(all="ignore"):
        return EMULATED[bfloat16].from_array(array)


def element(value: Number, dtype: DType) -> Any:
    """Return a number as a value that an element of an array can be set to."""
    number = dtype.convert(value)
    return cast_array(np.asarray(number), dtype) if dtype is bfloat16 else number


def assign(target: Array, values: Array) -> None:
    """Store numbers in an array, rounded or wrapped around; the shapes broadcast."""
    if target.dtype is not values.dtype and bfloat16.numpy in (target.dtype, values.dtype):
        values = cast_array(values, dtype_of(target))
    np.copyto(target, values, casting="unsafe")
