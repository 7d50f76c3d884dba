"""Named operations that NumPy has in one call, or in a few; see `mt_tensor.fused`."""

from collections.abc import Callable
from typing import Any

from mt_tensor.backends.numpy.kernels import (
    convolution,
    losses,
    normalization,
    pooling,
    positions,
    softmax,
)
from mt_tensor.fused import FusedKernel

KERNELS: dict[str, Callable[..., Any] | FusedKernel] = {
    **convolution.KERNELS,
    **losses.KERNELS,
    **normalization.KERNELS,
    **pooling.KERNELS,
    **positions.KERNELS,
    **softmax.KERNELS,
}
"""The kernels by the name of the operation."""
