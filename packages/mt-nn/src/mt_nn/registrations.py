"""Import the files that register methods, functions and kernels."""

# ruff: noqa: F401 - imported for their side effects

from mt_nn import methods
from mt_nn.data import collate, loading
from mt_nn.hooks import optimizers
from mt_nn.layers import activation, convolution, dimensions, lists, pooling
from mt_nn.losses import soft_targets
from mt_nn.optim import checks
from mt_tensor.backends import register_kernels

register_kernels("numpy", "mt_nn.kernels.numpy")
