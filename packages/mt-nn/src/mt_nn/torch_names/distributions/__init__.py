"""`torch.distributions`: probability distributions."""

from typing import TYPE_CHECKING

from mt_nn.distributions import *

if TYPE_CHECKING:
    from mt_nn.torch_names.distributions import bernoulli, categorical, distribution, kl, normal
