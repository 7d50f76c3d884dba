"""bfloat16, which NumPy has not: the upper half of a float32, rounded.

It has the range of float32 and eight binary digits. In the memory of this machine its arrays are of
two bytes without meaning, so that NumPy refuses to compute with them, instead of taking the bits
for numbers. All that computes with NumPy reads arrays by `numbers`, which widens these to float32,
and writes by `stored` or `assign`. Arrays of other types pass through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.core.dtypes import Array, DType, Number, as_dtype, bfloat16

NAN = 0x7FC0
"""The bits of nan. There are others, which rounding makes to these."""


def element_type(array: Array) -> DType:
    """Return the type of the elements that an array of a backend holds.

    Raises:
        DTypeError: there is no such element type.
    """
    return bfloat16 if array.dtype == bfloat16.numpy else as_dtype(array.dtype)


def numbers(array: Any) -> Any:
    """Return an array, or an element of one, as NumPy computes with it: bfloat16 as float32."""
    if array.dtype != bfloat16.numpy:
        return array
    return (array.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def stored(array: Array, dtype: DType) -> Array:
    """Return an array as one of an element type: itself, or rounded once or wrapped around."""
    if array.dtype == dtype.numpy:
        return array
    if dtype is not bfloat16:
        return np.asarray(numbers(array).astype(dtype.numpy))
    with np.errstate(all="ignore"):
        return _rounded(array)


def element(value: Number, dtype: DType) -> Any:
    """Return a number as what an element of an array can be set to."""
    number = dtype.convert(value)
    return stored(np.asarray(number), dtype) if dtype is bfloat16 else number


def assign(target: Array, values: Array) -> None:
    """Store numbers in an array, rounded or wrapped around; the shapes broadcast."""
    if target.dtype is not values.dtype and bfloat16.numpy in (target.dtype, values.dtype):
        values = stored(values, element_type(target))
    np.copyto(target, values, casting="unsafe")


def _rounded(array: Array) -> Array:
    """Return numbers as bfloat16: the nearest, of two the one whose last bit is 0."""
    wide = array.astype(np.float32)
    bits = wide.view(np.uint32)
    if array.dtype not in (np.float32, np.float16, np.bool_):
        # It has been rounded to float32 already. Towards zero instead, and with the last bit set if
        # anything was lost, it is on the right side of the middle between two of bfloat16.
        exact = array.astype(np.float64)
        bits = bits - (np.abs(wide) > np.abs(exact)) | (wide != exact)
    halfway = np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    upper = (bits + halfway >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(wide), np.uint16(NAN), upper).view(bfloat16.numpy)
