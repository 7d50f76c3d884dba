"""`torch.utils.data.dataset`: samples by number, or one after another."""

from mt_nn.core.dataset import *
from mt_nn.data.datasets import *
