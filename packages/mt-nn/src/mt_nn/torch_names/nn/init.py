"""`torch.nn.init`: first values of parameters."""

from mt_nn.init import *
