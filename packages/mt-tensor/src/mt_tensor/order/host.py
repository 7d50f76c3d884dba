"""Run operations on the host with NumPy, such as sorts and scans, which backends do not implement.

The elements are copied to the host, and the result is copied back. Only forward passes run here;
gradients are composed of tensor operations, so that they are differentiable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_tensor.core.casting import cast_array
from mt_tensor.core.dtypes import Array, DType
from mt_tensor.core.tensor import Tensor
from mt_tensor.recording.one_call import as_one_call


@as_one_call
def on_host(function: Callable[..., Array], *tensors: Tensor, dtype: DType) -> Tensor:
    """Apply a function of NumPy arrays to tensors, without recording.

    Args:
        function: takes one new array per tensor, of at least one dimension, and returns an array
            with as many elements as the first tensor.
        *tensors: tensors of one backend; the result has the shape of the first.
        dtype: the dtype of the result.
    """
    first = tensors[0]
    arrays = [np.array(x._numbers(), ndmin=1) for x in tensors]
    with np.errstate(all="ignore"):
        result = cast_array(function(*arrays), dtype)
    return first._uploaded(result.reshape(first.shape))


def accumulator(dtype: DType) -> np.dtype[Any]:
    """Return the dtype to accumulate in: float64 for floats, so that results are rounded once."""
    return np.dtype(np.float64) if dtype.is_floating_point else dtype.numpy
