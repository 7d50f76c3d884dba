"""`torch.optim.swa_utils`: averaging of weights."""

from mt_nn.optim.swa_utils import *
