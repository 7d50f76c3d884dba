"""`torch.distributions.distribution`."""

from mt_nn.distributions import *
