"""`torch.utils.data.dataloader`: batches of samples."""

from mt_nn.data.collate import *
from mt_nn.data.loader import *
