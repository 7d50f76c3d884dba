"""`torch.distributions`: probability distributions."""

from typing import TYPE_CHECKING

from mt_nn.distributions import *

# fmt: off
if TYPE_CHECKING:
    from mt_nn.torch_names.distributions import (
        bernoulli, beta, categorical, cauchy, dirichlet, distribution, exponential, gamma,
        independent, kl, laplace, log_normal, multivariate_normal, normal, one_hot_categorical,
        poisson, relaxed_bernoulli, relaxed_categorical, uniform,
    )
