"""`torch.autograd.functional`: Jacobians, Hessians, and their products."""

from mt_nn.torch_names import _mirror
from mt_tensor.autograd.functional import *

_mirror.finish(__name__)
