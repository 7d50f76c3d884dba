"""Probability distributions that can be drawn from and differentiated, under torch's names."""

from mt_nn.distributions.discrete import Bernoulli, Categorical
from mt_nn.distributions.distribution import Distribution
from mt_nn.distributions.divergence import kl_divergence
from mt_nn.distributions.normal import Normal

# fmt: off
__all__ = [
    "Bernoulli", "Categorical", "Distribution", "Normal", "kl_divergence",
]
# fmt: on
