"""`torch.distributions.exponential`."""

from mt_nn.distributions import *
