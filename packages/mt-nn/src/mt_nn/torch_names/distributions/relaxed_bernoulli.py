"""`torch.distributions.relaxed_bernoulli`."""

from mt_nn.distributions import *
