"""Import the files that register methods, functions and kernels."""

# ruff: noqa: F401 - imported for their side effects

from importlib.util import find_spec

from mt_nn import methods
from mt_nn.data import collate, loading
from mt_nn.hooks import optimizers
from mt_nn.layers import activation, convolution, dimensions, lists, pooling
from mt_nn.losses import soft_targets
from mt_nn.optim import checks
from mt_nn.utils.factory import LAYERS, takes_device_and_dtype
from mt_tensor.backends import register_kernels

register_kernels("numpy", "mt_nn.kernels.numpy")

for layer in LAYERS:
    takes_device_and_dtype(layer)

if find_spec("einops") is not None:
    from mt_nn.utils import einops
