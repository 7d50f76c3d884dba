"""`torch.nn.utils.parametrize`: parameters that are computed by a module."""

from mt_nn.utils.parametrize import *
