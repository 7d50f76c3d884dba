"""Checks of storages given to `TensorData`, and MiniTorch's methods of it."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from mt_autodiff.core.registration import register_methods
from mt_tensor.core.dtypes import DType, as_dtype
from mt_tensor.core.errors import DTypeError, ShapeError
from mt_tensor.core.extensions import extends
from mt_tensor.core.strides import Shape, Strides, shape_broadcast, size_of, strides_from_shape
from mt_tensor.core.tensor_data import TensorData


@extends("storage by hand")
def checked_storage(
    values: Any, shape: Shape, strides: Strides | None, offset: int
) -> tuple[Any, DType]:
    """Convert a list of numbers or an array to a storage for a view; return it and its dtype.

    Raises:
        DTypeError: the dtype is not supported.
        ShapeError: the values are not 1-D, or the view exceeds the storage.
    """
    try:
        row = np.asarray(values, None if isinstance(values, np.ndarray) else np.float64)
    except (TypeError, ValueError):
        raise DTypeError(
            f"a storage must be a 1-D list of numbers; {values!r} was given."
        ) from None
    steps = strides_from_shape(shape) if strides is None else strides
    if row.ndim != 1 or len(steps) != len(shape):
        raise ShapeError(
            f"a storage must be 1-D, and a view needs a stride for each size; storage of shape "
            f"{row.shape}, shape {shape} and strides {steps} were given."
        )
    ends = [stride * (size - 1) for size, stride in zip(shape, steps, strict=True)]
    first = offset + sum(end for end in ends if end < 0)
    last = offset + sum(end for end in ends if end > 0)
    if size_of(shape) and not 0 <= first <= last < len(row):
        raise ShapeError(
            f"a view of shape {shape}, strides {steps} and offset {offset} spans positions "
            f"{first} to {last}, but the storage has {len(row)} element(s)."
        )
    return row, as_dtype(row.dtype)


class StorageMethods:
    """Methods of `TensorData` that MiniTorch defines, for storages that can be indexed."""

    __slots__ = ()

    shape_broadcast = staticmethod(shape_broadcast)

    def sample(self: TensorData) -> tuple[int, ...]:  # type: ignore[misc]
        """Return a random valid index."""
        rng = np.random.default_rng()
        return tuple(int(rng.integers(size)) for size in self.shape)

    def tuple(self: TensorData) -> builtins.tuple[Any, Shape, Strides]:  # type: ignore[misc]
        """Return the storage, shape and strides."""
        return self.storage, self.shape, self.strides

    def to_string(self: TensorData) -> str:  # type: ignore[misc]
        """Format the elements in nested brackets.

        >>> print(TensorData([1, 2, 3, 4], (2, 2)).to_string())
        [[1.00 2.00]
         [3.00 4.00]]
        """

        def part(index: builtins.tuple[int, ...]) -> str:
            level = len(index)
            if level == self.ndim:
                return f"{self.get(index):3.2f}"
            gap = " " if level == self.ndim - 1 else "\n" + " " * (level + 1)
            return f"[{gap.join(part((*index, i)) for i in range(self.shape[level]))}]"

        return part(())


register_methods(TensorData, StorageMethods)
