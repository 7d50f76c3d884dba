"""Continuous distributions of numbers with a location and a scale, and those derived from them.

If `z` has a standard distribution with the density p, `loc + scale * z` has the density
`p((x - loc) / scale) / scale`. Except for the normal distribution, samples are quantiles of uniform
numbers: if F is a distribution function and u is uniform between 0 and 1, `F^-1(u)` has the
distribution F (Devroye, Non-Uniform Random Variate Generation, 1986, chapter 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import mt_tensor as mt
from mt_nn.distributions.constraints import Constraint, positive, real
from mt_nn.distributions.distribution import HALF_LOG_2_PI, Distribution, constant
from mt_tensor import Tensor
from mt_tensor.extending import Shape


class LocationScale(Distribution):
    """Base class of distributions with a location and a scale."""

    loc: Tensor
    scale: Tensor
    arg_constraints: ClassVar = {"loc": real, "scale": positive}
    support = real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, loc=loc, scale=scale)


def standardized(
    log_density: Callable[[Any], Any],
    cdf: Callable[[Any], Any],
    quantile: Callable[[Any], Any],
    entropy: float,
    variance: float,
) -> dict[str, Any]:
    """Return the formulas for a standard distribution that is symmetric around 0."""
    return {
        "mean": lambda d: d.loc,
        "mode": lambda d: d.loc,
        "variance": lambda d: variance * d.scale.square(),
        "stddev": lambda d: math.sqrt(variance) * d.scale,
        "log_prob": lambda d, x: log_density((x - d.loc) / d.scale) - d.scale.log(),
        "entropy": lambda d: entropy + d.scale.log(),
        "cdf": lambda d, x: cdf((x - d.loc) / d.scale),
        "icdf": lambda d, p: d.loc + d.scale * quantile(p),
    }


def _draw(d: Any, shape: Shape) -> Any:
    scale = d.scale.expand(shape)
    return d.loc + scale * mt.randn_like(scale)


_NORMAL = standardized(
    lambda z: -0.5 * z.square() - HALF_LOG_2_PI,
    lambda z: z.ndtr(),
    lambda p: math.sqrt(2.0) * (2.0 * p - 1.0).erfinv(),
    entropy=0.5 + HALF_LOG_2_PI,
    variance=1.0,
)


class Normal(LocationScale):
    """The normal (Gaussian) distribution.

    The density is `exp(-((x - loc) / scale)**2 / 2) / (scale * sqrt(2 * pi))`.

    Args:
        loc: the means, a tensor or a number.
        scale: the standard deviations, a tensor or a number; both are broadcast.
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        InputError: a mean is nan, or a standard deviation is not positive.
    """

    formulas: ClassVar = {**_NORMAL, "sample": _draw}


class LogNormal(LocationScale):
    """The log-normal distribution: that of `exp(x)` for a normal x.

    The density is that of the normal distribution at `log(x)`, divided by x.

    Args:
        loc: the means of the logarithms, a tensor or a number.
        scale: the standard deviations of the logarithms.
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a mean is nan, or a standard deviation is not positive.
    """

    support = positive
    formulas: ClassVar = {
        "sample": lambda d, shape: _draw(d, shape).exp(),
        "mean": lambda d: (d.loc + 0.5 * d.scale.square()).exp(),
        "mode": lambda d: (d.loc - d.scale.square()).exp(),
        "variance": lambda d: d.scale.square().expm1() * (2.0 * d.loc + d.scale.square()).exp(),
        "log_prob": lambda d, x: _NORMAL["log_prob"](d, x.log()) - x.log(),
        "entropy": lambda d: _NORMAL["entropy"](d) + d.loc,
        "cdf": lambda d, x: _NORMAL["cdf"](d, x.log()),
        "icdf": lambda d, p: _NORMAL["icdf"](d, p).exp(),
    }


class Laplace(LocationScale):
    """The Laplace distribution: the difference of two exponential times of the same rate.

    The density is `exp(-|x - loc| / scale) / (2 * scale)`.

    Args:
        loc: the means, a tensor or a number.
        scale: the mean distances from them.
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a mean is nan, or a scale is not positive.
    """

    formulas: ClassVar = standardized(
        lambda z: -z.abs() - math.log(2.0),
        lambda z: 0.5 - 0.5 * z.sign() * (-z.abs()).expm1(),
        lambda p: (0.5 - p).sign() * (-2.0 * (p - 0.5).abs()).log1p(),
        entropy=1.0 + math.log(2.0),
        variance=2.0,
    )


class Cauchy(LocationScale):
    """The Cauchy distribution: the ratio of two independent normal numbers of mean 0.

    The density is `1 / (pi * scale * (1 + ((x - loc) / scale)**2))`; there is no mean.

    Args:
        loc: the medians, a tensor or a number.
        scale: the distances from the median to the quartiles.
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a median is nan, or a scale is not positive.
    """

    formulas: ClassVar = (
        standardized(
            lambda z: -z.square().log1p() - math.log(math.pi),
            lambda z: z.atan() / math.pi + 0.5,
            lambda p: (math.pi * (p - 0.5)).tan(),
            entropy=math.log(4.0 * math.pi),
            variance=math.inf,
        )
        | {name: constant(math.inf) for name in ("variance", "stddev")}
        | {"mean": constant(math.nan)}
    )


class Uniform(Distribution):
    """The uniform distribution on [low, high).

    The density is `1 / (high - low)`.

    Args:
        low: the lower bounds, a tensor or a number.
        high: the upper bounds; both are broadcast.
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        InputError: a bound is nan, or `low` is not less than `high`.
    """

    low: Tensor
    high: Tensor
    arg_constraints: ClassVar = {"low": real, "high": real}
    has_rsample = True
    formulas: ClassVar = {
        "mean": lambda d: 0.5 * (d.low + d.high),
        "mode": constant(math.nan),
        "variance": lambda d: (d.high - d.low).square() / 12.0,
        "log_prob": lambda d, x: (-(d.high - d.low).log()).where(
            (x >= d.low) & (x < d.high), -math.inf
        ),
        "entropy": lambda d: (d.high - d.low).log(),
        "cdf": lambda d, x: ((x - d.low) / (d.high - d.low)).clamp(0.0, 1.0),
        "icdf": lambda d, p: d.low + p * (d.high - d.low),
    }

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, low=low, high=high)
        bound = self.low._numbers()
        self._check(Constraint("numbers greater than low", lambda x: x > bound), "high", self.high)

    @property
    def support(self) -> Constraint:
        """The numbers from `low` to `high`."""
        low, high = self.low._numbers(), self.high._numbers()
        return Constraint("numbers from low to high", lambda x: (x >= low) & (x <= high))
