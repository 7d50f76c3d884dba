"""`torch.nn`: layers, losses and containers."""

from typing import TYPE_CHECKING

from mt_nn.torch_names.nn.modules import *

if TYPE_CHECKING:
    from mt_nn.torch_names.nn import modules, parameter
