"""`torch.cuda`: what programs ask about the GPU."""

from mt_tensor.cuda import *
