"""`torch.func`: functions that transform functions."""

from mt_nn.utils.stateless import functional_call
from mt_tensor.autograd.func import *
