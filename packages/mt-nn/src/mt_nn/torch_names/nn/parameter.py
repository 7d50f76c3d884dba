"""`torch.nn.parameter`: parameters and buffers."""

from mt_nn.core.parameter import *
from mt_nn.layers.lazy import UninitializedBuffer as UninitializedBuffer
from mt_nn.layers.lazy import UninitializedParameter as UninitializedParameter
from mt_operators import Buffer as Buffer
