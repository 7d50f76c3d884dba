"""`torch.utils.data.sampler`: the order of samples."""

from mt_nn.core.samplers import *
from mt_nn.data.datasets import *
