"""Operations of networks as a few calls of NumPy, for the backend `numpy`."""

from mt_nn.kernels.numpy import convolution, linear, losses, pooling
from mt_tensor.extending import FusedKernel

KERNELS: dict[str, FusedKernel] = {
    **convolution.KERNELS,
    **linear.KERNELS,
    **losses.KERNELS,
    **pooling.KERNELS,
}
"""The kernels by the name of the operation."""
