"""`torch.nn.init`: first values of parameters."""

from mt_nn.init import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
