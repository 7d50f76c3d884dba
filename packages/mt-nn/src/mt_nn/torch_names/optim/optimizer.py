"""`torch.optim.optimizer`: the base of all optimizers."""

from mt_nn.core.optimizer import *
