"""`torch.utils.data.dataloader`: batches of samples."""

from mt_nn.core.loader import *
from mt_nn.data.collate import *
