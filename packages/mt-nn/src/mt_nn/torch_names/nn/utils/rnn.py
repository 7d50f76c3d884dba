"""`torch.nn.utils.rnn`: sequences of different lengths in one batch."""

from mt_nn.library.utils.rnn import *
from mt_nn.torch_names import _mirror

_mirror.finish(__name__)
