"""Kernels of the backend `numpy`: operations of networks as a few calls of NumPy."""

from mt_nn.kernels.numpy import convolution, linear, losses, pooling
from mt_tensor.extending import FusedKernel

KERNELS: dict[str, FusedKernel] = {
    **convolution.KERNELS,
    **linear.KERNELS,
    **losses.KERNELS,
    **pooling.KERNELS,
}
"""Kernels by name of the operation."""
