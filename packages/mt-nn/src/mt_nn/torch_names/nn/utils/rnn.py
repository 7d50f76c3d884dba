"""`torch.nn.utils.rnn`: sequences of different lengths in one batch."""

from mt_nn.torch_names import _mirror
from mt_nn.utils.rnn import *

_mirror.finish(__name__)
