"""`torch.distributions.cauchy`."""

from mt_nn.distributions import *
