"""`torch.nn.utils.parametrizations`: weight and spectral normalization."""

from mt_nn.utils.parametrizations import *
