"""`torch.distributions.categorical`."""

from mt_nn.library.distributions.discrete import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
