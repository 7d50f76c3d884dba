"""`torch.nn.utils.rnn`: sequences of different lengths in one batch."""

from mt_nn.utils.rnn import *
