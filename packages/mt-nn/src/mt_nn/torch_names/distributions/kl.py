"""`torch.distributions.kl`: the Kullback-Leibler divergence."""

from mt_nn.distributions import *
