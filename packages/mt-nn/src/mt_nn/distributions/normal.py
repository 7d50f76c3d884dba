"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from mt_nn.distributions.distribution import Distribution, parameter
from mt_tensor import Tensor, broadcast_tensors, randn_like
from mt_tensor.extending import Shape, require_tensors


class Normal(Distribution):
    """Gauss's distribution.

    >>> from mt_tensor import tensor
    >>> Normal(0.0, 2.0).log_prob(tensor([0.0, 2.0]))
    tensor([-1.6121, -2.1121])

    Args:
        loc: the means, a tensor or a number.
        scale: the standard deviations, likewise; both are broadcast together.
        validate_args: whether to look at parameters, which waits for a device that computes them.

    Raises:
        InputError: a mean is nan, or a standard deviation is not positive.
    """

    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args)
        mean, deviation = parameter("loc", loc, scale), parameter("scale", scale, loc)
        self._check_parameters("means are numbers", lambda: mean == mean, given=mean)
        self._check_parameters(
            "standard deviations are positive", lambda: deviation > 0, given=deviation
        )
        self.loc, self.scale = broadcast_tensors(mean, deviation)
        self.batch_shape = self.loc.shape

    @property
    def mean(self) -> Tensor:
        """The mean of each."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The standard deviation of each."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance of each."""
        return self.scale.square()

    def _drawn(self, shape: Shape) -> Tensor:
        """Return numbers, as `loc + scale * noise`."""
        scale = self.scale.expand(shape)
        return self.loc + scale * randn_like(scale)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities at values."""
        require_tensors("log_prob", value)
        distance = (value - self.loc) / self.scale
        return -0.5 * distance.square() - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of less than each of the values."""
        require_tensors("cdf", value)
        return ((value - self.loc) / self.scale).ndtr()

    def entropy(self) -> Tensor:
        """Return the entropy of each, in nats."""
        return self.scale.log() + 0.5 * (1.0 + math.log(2 * math.pi))
