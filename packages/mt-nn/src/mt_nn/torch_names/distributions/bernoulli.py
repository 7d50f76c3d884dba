"""`torch.distributions.bernoulli`."""

from mt_nn.distributions.discrete import *
