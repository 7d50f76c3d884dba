"""`torch.autograd.function`: operations with a derivative of their own."""

from mt_nn.torch_names import _mirror
from mt_tensor import Function as Function

_mirror.finish(__name__)
