"""`torch.optim.swa_utils`: averages of weights."""

from mt_nn.library.optim.swa_utils import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
