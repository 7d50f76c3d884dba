"""Where the extreme elements are, which NumPy finds in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_tensor.core.casting import to_float32
from mt_tensor.core.dtypes import int64
from mt_tensor.core.layout import row_major
from mt_tensor.core.tensor_data import TensorData


def _position(name: str) -> Callable[..., Any]:
    """Return the `argmax` or `argmin` of arrays as a kernel: in both, the first nan wins."""

    def kernel(x: Any, dim: int) -> Any:
        data = x._tensor
        shape = (*data.shape[:dim], 1, *data.shape[dim + 1 :])
        position = np.ascontiguousarray(getattr(to_float32(data.array), name)(dim), np.int64)
        return x._with(TensorData.of(position.reshape(shape), row_major(shape, int64)))

    return kernel


KERNELS = {name: _position(name) for name in ("argmax", "argmin")}
