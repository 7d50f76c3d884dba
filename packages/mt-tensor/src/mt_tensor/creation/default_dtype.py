"""The default dtype."""

from __future__ import annotations

from typing import Any

from mt_tensor.core.dtypes import DEFAULT, as_dtype
from mt_tensor.core.errors import DTypeError


def set_default_dtype(d: Any) -> None:
    """Set the dtype of Python floats, of new tensors, and of floating-point results for integers.

    As in torch, the setting applies to the whole process, and to all later operations.

    Args:
        d: float16, bfloat16, float32 (the initial default) or float64.

    Raises:
        DTypeError: `d` is not floating-point.
    """
    dtype = as_dtype(d)
    if not dtype.is_floating_point:
        raise DTypeError(
            f"set_default_dtype() takes a floating-point dtype; {dtype.name} was given."
        )
    DEFAULT[0] = dtype
