"""`torch.distributions.categorical`."""

from mt_nn.library.distributions.discrete import *
