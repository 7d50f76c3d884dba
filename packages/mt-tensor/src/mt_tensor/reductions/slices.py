"""Reductions of the `numpy` backend with operators for which NumPy has no ufunc."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mt_operators import Operator
from mt_tensor.core.casting import to_float32
from mt_tensor.core.numpy_backend import on_arrays
from mt_tensor.core.numpy_functions import SPECIAL_CASES
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor_data import TensorData


def fold_slices(operator: Operator, source: TensorData, shape: Shape, dims: tuple[int, ...]) -> Any:
    """Reduce slice by slice with an operator for which NumPy has no ufunc."""
    array = to_float32(source.array)
    rest = tuple(d for d in range(array.ndim) if d not in dims)
    count = math.prod(array.shape[d] for d in dims)
    slices = array.transpose(*dims, *rest).reshape(count, *(array.shape[d] for d in rest))
    if not len(slices):
        return operator.identity
    total = functools.reduce(on_arrays(operator.value, source.dtype), slices)
    return np.array(total).reshape(shape)  # a copy, since a single slice is a view


SPECIAL_CASES["reduce"] = fold_slices
