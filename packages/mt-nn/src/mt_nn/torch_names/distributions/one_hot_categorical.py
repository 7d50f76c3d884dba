"""`torch.distributions.one_hot_categorical`."""

from mt_nn.distributions import *
