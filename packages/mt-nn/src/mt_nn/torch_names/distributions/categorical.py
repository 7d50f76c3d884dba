"""`torch.distributions.categorical`."""

from mt_nn.distributions import *
