"""`torch.distributions.distribution`."""

from mt_nn.distributions.distribution import *
