"""`torch.nn.utils`: utilities for gradients and parameters."""

from typing import TYPE_CHECKING

from mt_nn.utils import *

if TYPE_CHECKING:
    from mt_nn.torch_names.nn.utils import clip_grad
