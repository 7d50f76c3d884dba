"""`torch.cuda`: what programs ask about the GPU."""

from mt_nn.torch_names import _mirror
from mt_tensor.cuda import *

_mirror.finish(__name__)
