"""`torch.distributions.laplace`."""

from mt_nn.distributions import *
