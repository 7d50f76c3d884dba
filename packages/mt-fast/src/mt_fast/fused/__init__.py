"""Fused operations: several passes over memory in one.

`KERNELS` holds what the backend offers by name (`mt_tensor.fused`). Each subject has a file: loops
over arrays first, and then the operation, which brings tensors to them.
"""

from __future__ import annotations

from mt_fast.fused.softmax import LOG_SOFTMAX, SOFTMAX
from mt_tensor.fused import FusedKernel

KERNELS: dict[str, FusedKernel] = {
    "softmax": SOFTMAX,
    "log_softmax": LOG_SOFTMAX,
}
"""The fused operations by name."""
