"""`torch.optim.lr_scheduler`: how learning rates change."""

from mt_nn.optim.lr_scheduler import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
