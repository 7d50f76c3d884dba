"""`torch.distributions.kl`: how far one distribution is from another."""

from mt_nn.library.distributions.divergence import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
