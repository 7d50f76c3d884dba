"""`torch.distributions.distribution`."""

from mt_nn.library.distributions.distribution import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
