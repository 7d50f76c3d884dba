"""`torch.distributions.log_normal`."""

from mt_nn.distributions import *
