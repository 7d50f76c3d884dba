"""`torch.utils.data.dataset`: samples by number, or one after another."""

from mt_nn.data.dataset import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
