"""Named operations that NumPy has in one call (see `mt_tensor.fused`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_tensor.dtypes import int64
from mt_tensor.tensor_data import TensorData


def _position(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return NumPy's `argmax` or `argmin` as a kernel: in both, the first nan wins."""

    def kernel(x: Any, dim: int) -> Any:
        position = np.asarray(function(x._tensor.array, dim, keepdims=True), np.int64)
        return x._with(TensorData.of(np.ascontiguousarray(position), position.shape, int64))

    return kernel


KERNELS: dict[str, Callable[..., Any]] = {
    "argmax": _position(np.argmax),
    "argmin": _position(np.argmin),
}
"""The kernels by the name of the operation."""
