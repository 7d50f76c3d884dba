"""`torch.autograd.functional`: Jacobians, Hessians, and their products."""

from mt_tensor.autograd.functional import *
