"""`torch.distributions.normal`."""

from mt_nn.library.distributions.normal import *
