"""`torch.nn.utils.stateless`: calls of modules with other parameters."""

from mt_nn.utils.stateless import *
