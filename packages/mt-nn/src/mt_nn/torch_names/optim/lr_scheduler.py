"""`torch.optim.lr_scheduler`: schedules of the learning rate."""

from mt_nn.optim.lr_scheduler import *
from mt_nn.optim.lr_scheduler import LRScheduler as _LRScheduler
