"""`torch.nn.utils.parametrize`: any parameter, computed by a module."""

from mt_nn.library.utils.parametrize import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
