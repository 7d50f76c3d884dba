"""`torch.utils.data.dataloader`: batches of samples."""

from mt_nn.data.collate import *
from mt_nn.data.loader import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
