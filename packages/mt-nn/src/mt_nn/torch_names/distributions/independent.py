"""`torch.distributions.independent`."""

from mt_nn.distributions import *
