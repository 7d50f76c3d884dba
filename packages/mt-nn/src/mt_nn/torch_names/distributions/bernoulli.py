"""`torch.distributions.bernoulli`."""

from mt_nn.library.distributions.discrete import *
