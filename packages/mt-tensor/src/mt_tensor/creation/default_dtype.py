"""The dtype of numbers where nothing else decides."""

from __future__ import annotations

from typing import Any

from mt_tensor.core.dtypes import DEFAULT, as_dtype
from mt_tensor.core.errors import DTypeError


def set_default_dtype(d: Any) -> None:
    """Set the dtype of Python's floats, of new tensors, and of roots and quotients of integers.

    As in torch it holds for the whole process, and for what is computed from now on.

    >>> import mt_tensor as mt
    >>> mt.set_default_dtype(mt.float64)
    >>> mt.zeros(1).dtype, (mt.arange(3) / 2).dtype
    (mt_tensor.float64, mt_tensor.float64)
    >>> mt.set_default_dtype(mt.float32)

    Args:
        d: float16, bfloat16, float32 (the default at first) or float64.

    Raises:
        DTypeError: it is not a floating-point dtype.
    """
    dtype = as_dtype(d)
    if not dtype.is_floating_point:
        raise DTypeError(
            f"the default is a floating-point type; {dtype.name} was given. Integers are of int64."
        )
    DEFAULT[0] = dtype
