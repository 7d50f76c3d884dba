"""`torch.utils.data`: data sets, samplers and loaders."""

from typing import TYPE_CHECKING

from mt_nn.data import *

if TYPE_CHECKING:
    from mt_nn.torch_names.utils.data import dataloader, dataset, sampler
