"""`torch.random`: where random numbers come from."""

from mt_nn.torch_names import _mirror
from mt_tensor.randomness.generator import *

_mirror.finish(__name__)
