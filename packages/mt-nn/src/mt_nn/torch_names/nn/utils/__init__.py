"""`torch.nn.utils`: what is done with all gradients or parameters."""

from typing import TYPE_CHECKING

from mt_nn.utils import *

if TYPE_CHECKING:
    from mt_nn.torch_names.nn.utils import clip_grad
