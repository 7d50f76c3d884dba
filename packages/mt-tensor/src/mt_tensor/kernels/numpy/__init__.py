"""Kernels of the `numpy` backend for named operations; see `mt_tensor.fused`."""

from mt_tensor.kernels.fused import Kernel
from mt_tensor.kernels.numpy import positions, softmax

KERNELS: dict[str, Kernel] = {**positions.KERNELS, **softmax.KERNELS}
"""The kernels by name of the operation."""
