"""`torch.distributions.bernoulli`."""

from mt_nn.distributions import *
