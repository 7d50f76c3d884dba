"""`torch.nn.utils.parametrizations`: weights that are computed from others."""

from mt_nn.library.utils.parametrizations import *
