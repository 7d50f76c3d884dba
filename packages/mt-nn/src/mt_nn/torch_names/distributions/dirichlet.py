"""`torch.distributions.dirichlet`."""

from mt_nn.distributions import *
