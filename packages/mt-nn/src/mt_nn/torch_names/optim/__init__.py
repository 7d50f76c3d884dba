"""`torch.optim`: optimizers."""

from typing import TYPE_CHECKING

from mt_nn.optim import *

if TYPE_CHECKING:
    from mt_nn.torch_names.optim import optimizer
