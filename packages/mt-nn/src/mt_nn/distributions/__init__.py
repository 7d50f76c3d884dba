"""Probability distributions that can be drawn from and differentiated, under torch's names."""

from mt_nn.library.distributions.discrete import Bernoulli, Categorical
from mt_nn.library.distributions.distribution import Distribution
from mt_nn.library.distributions.divergence import kl_divergence
from mt_nn.library.distributions.normal import Normal

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal", "kl_divergence"]
