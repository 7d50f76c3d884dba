"""Probability distributions, for sampling and differentiation, with the names of torch."""

from mt_nn.distributions.discrete import Bernoulli, Categorical, OneHotCategorical, Poisson
from mt_nn.distributions.distribution import Distribution
from mt_nn.distributions.gamma import Beta, Dirichlet, Exponential, Gamma
from mt_nn.distributions.independent import Independent
from mt_nn.distributions.kl import kl_divergence
from mt_nn.distributions.location_scale import Cauchy, Laplace, LogNormal, Normal, Uniform
from mt_nn.distributions.vectors import MultivariateNormal
from mt_nn.distributions.relaxed import RelaxedBernoulli, RelaxedOneHotCategorical

# fmt: off
__all__ = [
    "Bernoulli", "Beta", "Categorical", "Cauchy", "Dirichlet", "Distribution", "Exponential",
    "Gamma", "Independent", "Laplace", "LogNormal", "MultivariateNormal", "Normal",
    "OneHotCategorical", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "Uniform",
    "kl_divergence",
]
# fmt: on
