"""`torch.distributions.distribution`."""

from mt_nn.library.distributions.distribution import *
