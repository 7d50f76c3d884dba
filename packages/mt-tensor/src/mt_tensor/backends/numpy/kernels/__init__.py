"""Named operations that NumPy has in one call, or in a few; see `mt_tensor.fused`."""

from collections.abc import Callable
from typing import Any

from mt_tensor.backends.kernels import FusedKernel
from mt_tensor.backends.numpy.kernels import positions, softmax

KERNELS: dict[str, Callable[..., Any] | FusedKernel] = {**positions.KERNELS, **softmax.KERNELS}
"""The kernels by the name of the operation."""
