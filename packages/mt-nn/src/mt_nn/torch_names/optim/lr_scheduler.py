"""`torch.optim.lr_scheduler`: how learning rates change."""

from mt_nn.optim.lr_scheduler import *
