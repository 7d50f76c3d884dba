"""`torch.optim`: how parameters follow their gradients."""

from typing import TYPE_CHECKING

from mt_nn.optim import *
from mt_nn.torch_names import _mirror

if TYPE_CHECKING:
    from mt_nn.torch_names.optim import optimizer

_mirror.finish(__name__)
