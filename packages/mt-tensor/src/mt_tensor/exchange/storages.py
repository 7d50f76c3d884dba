"""Storages that are given by hand, to `TensorData`, instead of made by a backend."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.core.dtypes import DType, as_dtype
from mt_tensor.core.errors import DTypeError, ShapeError
from mt_tensor.core.extensions import extends
from mt_tensor.core.strides import Shape, Strides, size_of, strides_from_shape


@extends("storage by hand")
def checked_storage(
    values: Any, shape: Shape, strides: Strides | None, offset: int
) -> tuple[Any, DType]:
    """Return a list of numbers or an array as a storage in which a view lies, and its dtype.

    Raises:
        DTypeError: tensors have no dtype for these values.
        ShapeError: they are not in one row, or the view reaches outside.
    """
    try:
        row = np.asarray(values, None if isinstance(values, np.ndarray) else np.float64)
    except (TypeError, ValueError):
        raise DTypeError(f"a storage holds numbers in one row; {values!r} was given.") from None
    steps = strides_from_shape(shape) if strides is None else strides
    if row.ndim != 1 or len(steps) != len(shape):
        raise ShapeError(
            f"a storage is one row of elements, and a view has a stride for each size; an array "
            f"of shape {row.shape}, and {shape} and {steps} were given."
        )
    ends = [stride * (size - 1) for size, stride in zip(shape, steps, strict=True)]
    first = offset + sum(end for end in ends if end < 0)
    last = offset + sum(end for end in ends if end > 0)
    if size_of(shape) and not 0 <= first <= last < len(row):
        raise ShapeError(
            f"a view of shape {shape}, strides {steps} and offset {offset} reaches from position "
            f"{first} to {last} of a storage of {len(row)} element(s)."
        )
    return row, as_dtype(row.dtype)
