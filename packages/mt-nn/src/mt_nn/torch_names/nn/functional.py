"""`torch.nn.functional`: layers and losses as functions."""

from mt_nn.functional import *
