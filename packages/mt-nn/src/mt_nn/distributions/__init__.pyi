"""What users find in `mt_nn.distributions`, and where it is defined."""

from mt_nn.distributions.discrete import Bernoulli as Bernoulli
from mt_nn.distributions.discrete import Categorical as Categorical
from mt_nn.distributions.distribution import Distribution as Distribution
from mt_nn.distributions.divergence import kl_divergence as kl_divergence
from mt_nn.distributions.normal import Normal as Normal
