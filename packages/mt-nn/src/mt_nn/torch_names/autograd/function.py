"""`torch.autograd.function`: functions with their own gradients."""

from mt_tensor import Function as Function
