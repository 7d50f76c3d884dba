"""`torch.nn.utils.parametrize`: any parameter, computed by a module."""

from mt_nn.torch_names import _mirror
from mt_nn.utils.parametrize import *

_mirror.finish(__name__)
