"""`torch.distributions.kl`: how far one distribution is from another."""

from mt_nn.distributions import *
