"""`torch.distributions.multivariate_normal`."""

from mt_nn.distributions import *
