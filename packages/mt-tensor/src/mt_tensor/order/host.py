"""Operations that run on the host: orders and running folds, which are no primitive of backends.

The elements come to the host as an array, NumPy computes, and the result goes back. This is for the
forward direction only: gradients are composed of operations, so that they can be differentiated.
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
    """Return what a function makes of the tensors' elements, as a constant tensor.

    Args:
        function: takes one new array for each tensor, of at least one dimension, and returns one
            with as many elements as the first tensor.
        *tensors: of one backend; the result has the shape of the first.
        dtype: the element type of the result.
    """
    first = tensors[0]
    arrays = [np.array(x._numbers(), ndmin=1) for x in tensors]
    with np.errstate(all="ignore"):
        result = cast_array(function(*arrays), dtype)
    return first._uploaded(result.reshape(first.shape))


def accumulator(dtype: DType) -> np.dtype[Any]:
    """Return the type to add up or multiply in: float64 for floats, which are rounded once."""
    return np.dtype(np.float64) if dtype.is_floating_point else dtype.numpy
