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
        find = getattr(to_float32(x._tensor.array), name)
        position = np.ascontiguousarray(find(dim, keepdims=True), np.int64)
        return x._with(TensorData.of(position, row_major(position.shape, int64)))

    return kernel


KERNELS = {name: _position(name) for name in ("argmax", "argmin")}
