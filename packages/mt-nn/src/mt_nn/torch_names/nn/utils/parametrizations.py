"""`torch.nn.utils.parametrizations`: weights that are computed from others."""

from mt_nn.library.utils.parametrizations import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
