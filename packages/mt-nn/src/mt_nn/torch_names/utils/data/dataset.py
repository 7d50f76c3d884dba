"""`torch.utils.data.dataset`: map-style and iterable data sets."""

from mt_nn.core.dataset import *
from mt_nn.data.datasets import *
