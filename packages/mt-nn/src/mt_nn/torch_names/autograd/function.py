"""`torch.autograd.function`: operations with a derivative of their own."""

from mt_tensor import Function as Function
