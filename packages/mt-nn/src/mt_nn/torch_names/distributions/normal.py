"""`torch.distributions.normal`."""

from mt_nn.distributions import *
