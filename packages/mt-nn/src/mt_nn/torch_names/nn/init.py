"""`torch.nn.init`: initializers of parameters."""

from mt_nn.init import *
