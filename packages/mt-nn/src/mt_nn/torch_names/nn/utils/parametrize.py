"""`torch.nn.utils.parametrize`: any parameter, computed by a module."""

from mt_nn.utils.parametrize import *
