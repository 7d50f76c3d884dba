"""Named operations that NumPy has in one call, or in a few; see `mt_tensor.fused`."""

from mt_tensor.kernels.fused import Kernel
from mt_tensor.kernels.numpy import positions, softmax

KERNELS: dict[str, Kernel] = {**positions.KERNELS, **softmax.KERNELS}
"""The kernels by the name of the operation."""
