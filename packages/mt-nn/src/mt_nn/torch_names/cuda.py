"""`torch.cuda`: information about GPUs."""

from mt_tensor.cuda import *
