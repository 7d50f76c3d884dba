"""`torch.distributions.normal`."""

from mt_nn.distributions.normal import *
