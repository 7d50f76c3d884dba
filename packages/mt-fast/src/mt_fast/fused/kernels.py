"""The table of kernels of this folder, by the names of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_fast.fused.attention import ATTENTION
from mt_fast.fused.ctc import CTC
from mt_fast.fused.dropout import dropout
from mt_fast.fused.linear import LINEAR
from mt_fast.fused.losses import CROSS_ENTROPY
from mt_fast.fused.normalization import BATCH_NORM, GROUP_NORM, LAYER_NORM, RMS_NORM
from mt_fast.fused.pooling import MAX_POOL, MEAN_POOL
from mt_fast.fused.positions import ARGMAX, ARGMIN
from mt_fast.fused.quantized import INT8_LINEAR
from mt_fast.fused.resampling import RESAMPLE
from mt_fast.fused.softmax import LOG_SOFTMAX, SOFTMAX
from mt_tensor.extending import FusedKernel

KERNELS: dict[str, FusedKernel | Callable[..., Any]] = {
    "argmax": ARGMAX,
    "argmin": ARGMIN,
    "attention": ATTENTION,
    "avg_pool2d": MEAN_POOL,
    "batch_norm": BATCH_NORM,
    "cross_entropy": CROSS_ENTROPY,
    "ctc": CTC,
    "dropout": dropout,
    "group_norm": GROUP_NORM,
    "int8_linear": INT8_LINEAR,
    "layer_norm": LAYER_NORM,
    "linear": LINEAR,
    "log_softmax": LOG_SOFTMAX,
    "max_pool2d": MAX_POOL,
    "resample": RESAMPLE,
    "rms_norm": RMS_NORM,
    "softmax": SOFTMAX,
}
"""For `mt_tensor.extending.register_kernels`."""
