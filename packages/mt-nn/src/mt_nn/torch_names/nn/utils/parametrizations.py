"""`torch.nn.utils.parametrizations`: weights that are computed from others."""

from mt_nn.torch_names import _mirror
from mt_nn.utils.parametrizations import *

_mirror.finish(__name__)
