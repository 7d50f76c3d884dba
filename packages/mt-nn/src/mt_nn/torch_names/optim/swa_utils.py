"""`torch.optim.swa_utils`: averages of weights."""

from mt_nn.optim.swa_utils import *
