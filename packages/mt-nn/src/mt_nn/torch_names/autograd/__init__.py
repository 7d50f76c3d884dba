"""`torch.autograd`: differentiation, and functions with their own gradients."""

from typing import TYPE_CHECKING

from mt_tensor.autograd import *

if TYPE_CHECKING:
    from mt_nn.torch_names.autograd import function
