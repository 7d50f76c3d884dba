"""`torch.optim.swa_utils`: averages of weights."""

from mt_nn.library.optim.swa_utils import *
