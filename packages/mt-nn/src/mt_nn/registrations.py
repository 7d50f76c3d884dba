"""The modules that register functions and kernels in tables: importing this file imports them."""

# ruff: noqa: F401 - they are imported for what they register

from mt_nn.data import collate, loading
from mt_nn.hooks import modules, optimizers
from mt_nn.layers import activation, convolution, dimensions, pooling
from mt_nn.losses import soft_targets
from mt_nn.optim import checks
from mt_nn.saving import modules as saving_of_modules
from mt_nn.utils import modes
from mt_tensor.backends import register_kernels

register_kernels("numpy", "mt_nn.kernels.numpy")
