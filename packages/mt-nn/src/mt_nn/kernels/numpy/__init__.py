"""Operations of networks as a few calls of NumPy, for the backend `numpy`."""

from mt_nn.kernels.numpy import convolution
from mt_nn.kernels.numpy import linear
from mt_nn.kernels.numpy import losses
from mt_nn.kernels.numpy import normalization
from mt_nn.kernels.numpy import pooling
from mt_tensor.extending import FusedKernel

KERNELS: dict[str, FusedKernel] = {
    **convolution.KERNELS,
    **linear.KERNELS,
    **losses.KERNELS,
    **normalization.KERNELS,
    **pooling.KERNELS,
}
"""The kernels by the name of the operation."""
