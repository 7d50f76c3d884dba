"""`torch.optim.optimizer`: the base of all optimizers."""

from mt_nn.optim.optimizer import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
