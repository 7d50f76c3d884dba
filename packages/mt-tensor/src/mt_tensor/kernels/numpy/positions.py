"""`argmax` and `argmin`, each a single call of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_tensor.core.casting import to_float32
from mt_tensor.core.dtypes import int64
from mt_tensor.core.layout import row_major
from mt_tensor.core.tensor_data import TensorData


def _kernel(name: str) -> Callable[..., Any]:
    """Return a kernel for `argmax` or `argmin`, which both select the first nan."""

    def kernel(x: Any, dim: int) -> Any:
        find = getattr(to_float32(x._tensor.array), name)
        index = np.ascontiguousarray(find(dim, keepdims=True), np.int64)
        return x._with(TensorData.of(index, row_major(index.shape, int64)))

    return kernel


KERNELS = {name: _kernel(name) for name in ("argmax", "argmin")}
