"""`torch.distributions.normal`."""

from mt_nn.library.distributions.normal import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
