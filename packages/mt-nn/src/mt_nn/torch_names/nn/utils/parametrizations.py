"""`torch.nn.utils.parametrizations`: weights that are computed from others."""

from mt_nn.utils.parametrizations import *
