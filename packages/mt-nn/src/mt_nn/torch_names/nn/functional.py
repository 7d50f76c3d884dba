"""`torch.nn.functional`: layers and losses as functions."""

from mt_nn.functional import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
