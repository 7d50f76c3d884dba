"""`torch.distributions.relaxed_categorical`."""

from mt_nn.distributions import *
