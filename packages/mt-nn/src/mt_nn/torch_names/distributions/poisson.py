"""`torch.distributions.poisson`."""

from mt_nn.distributions import *
