"""`torch.utils.data.dataset`: samples by number, or one after another."""

from mt_nn.core.dataset import *
