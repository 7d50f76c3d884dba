"""`torch.distributions.categorical`."""

from mt_nn.distributions.discrete import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
