"""`torch.distributions.uniform`."""

from mt_nn.distributions import *
