"""`torch.distributions.gamma`."""

from mt_nn.distributions import *
