"""`torch.nn.functional`: layers and losses as functions."""

from functools import partial

from mt_nn import functional as _functional
from mt_nn.functional import *

celu_ = partial(_functional.celu, inplace=True)
elu_ = partial(_functional.elu, inplace=True)
hardtanh_ = partial(_functional.hardtanh, inplace=True)
leaky_relu_ = partial(_functional.leaky_relu, inplace=True)
relu_ = partial(_functional.relu, inplace=True)
selu_ = partial(_functional.selu, inplace=True)
