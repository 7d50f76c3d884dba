"""`torch.distributions.beta`."""

from mt_nn.distributions import *
