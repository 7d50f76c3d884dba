"""`torch.optim.optimizer`: the base class of optimizers."""

from mt_nn.core.optimizer import *
