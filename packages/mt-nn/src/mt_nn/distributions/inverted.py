"""Continuous distributions whose samples are quantiles of uniform numbers.

If F is a distribution function and u is uniform between 0 and 1, `F^-1(u)` has the distribution F
(Devroye, Non-Uniform Random Variate Generation, 1986, chapter 2).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from mt_nn.distributions.constraints import Constraint, interval, nonnegative, positive, real
from mt_nn.distributions.distribution import Distribution, Formulas, constant
from mt_tensor import Tensor


class Uniform(Distribution):
    """The uniform distribution on [low, high).

    The density is `1 / (high - low)`.

    >>> Uniform(1.0, 3.0).mean
    tensor(2.)

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
    _formulas = Formulas(
        mean=lambda d: 0.5 * (d.low + d.high),
        mode=constant(math.nan),
        variance=lambda d: (d.high - d.low).square() / 12.0,
        log_prob=lambda d, x: (-(d.high - d.low).log()).where(
            (x >= d.low) & (x < d.high), -math.inf
        ),
        entropy=lambda d: (d.high - d.low).log(),
        cdf=lambda d, x: ((x - d.low) / (d.high - d.low)).clamp(0.0, 1.0),
        icdf=lambda d, p: d.low + p * (d.high - d.low),
    )

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, low=low, high=high)
        above = Constraint(f"numbers greater than {self.low}", lambda x: x > self.low)
        self._check("Uniform", "high", above, self.high)

    @property
    def support(self) -> Constraint:
        """The numbers from `low` to `high`."""
        return interval(self.low, self.high)


class Exponential(Distribution):
    """The distribution of waiting times for events that occur with a constant rate.

    The density is `rate exp(-rate x)` for x >= 0.

    >>> Exponential(4.0).mean
    tensor(0.2500)

    Args:
        rate: the rates, a tensor or a number.
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a rate is not positive.
    """

    rate: Tensor
    arg_constraints: ClassVar = {"rate": positive}
    support = nonnegative
    has_rsample = True
    _formulas = Formulas(
        mean=lambda d: 1.0 / d.rate,
        mode=constant(0.0),
        variance=lambda d: d.rate**-2.0,
        log_prob=lambda d, x: d.rate.log() - d.rate * x,
        entropy=lambda d: 1.0 - d.rate.log(),
        cdf=lambda d, x: -(-d.rate * x).expm1(),
        icdf=lambda d, p: -(-p).log1p() / d.rate,
    )

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, rate=rate)


class Laplace(Distribution):
    """The distribution of the difference of two exponential waiting times.

    The density is `exp(-|x - loc| / scale) / (2 scale)`.

    >>> Laplace(0.0, 1.0).variance
    tensor(2.)

    Args:
        loc: the means, a tensor or a number.
        scale: the mean distances from them.
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a mean is nan, or a scale is not positive.
    """

    loc: Tensor
    scale: Tensor
    arg_constraints: ClassVar = {"loc": real, "scale": positive}
    support = real
    has_rsample = True
    _formulas = Formulas(
        mean=lambda d: d.loc,
        mode=lambda d: d.loc,
        variance=lambda d: 2.0 * d.scale.square(),
        log_prob=lambda d, x: -(x - d.loc).abs() / d.scale - (2.0 * d.scale).log(),
        entropy=lambda d: 1.0 + (2.0 * d.scale).log(),
        cdf=lambda d, x: 0.5 - 0.5 * (x - d.loc).sign() * (-(x - d.loc).abs() / d.scale).expm1(),
        icdf=lambda d, p: d.loc - d.scale * (p - 0.5).sign() * (-2.0 * (p - 0.5).abs()).log1p(),
    )

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, loc=loc, scale=scale)


class Cauchy(Distribution):
    """The distribution of the ratio of two independent normal numbers; it has no mean.

    The density is `1 / (pi scale (1 + ((x - loc) / scale)**2))`.

    >>> from mt_tensor import tensor
    >>> Cauchy(0.0, 1.0).cdf(tensor([0.0, 1.0]))
    tensor([0.5000, 0.7500])

    Args:
        loc: the medians, a tensor or a number.
        scale: the distances from the median to the quartiles.
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a median is nan, or a scale is not positive.
    """

    loc: Tensor
    scale: Tensor
    arg_constraints: ClassVar = {"loc": real, "scale": positive}
    support = real
    has_rsample = True
    _formulas = Formulas(
        mean=constant(math.nan),
        mode=lambda d: d.loc,
        variance=constant(math.inf),
        log_prob=lambda d, x: -((x - d.loc) / d.scale).square().log1p() - (math.pi * d.scale).log(),
        entropy=lambda d: (4.0 * math.pi * d.scale).log(),
        cdf=lambda d, x: ((x - d.loc) / d.scale).atan() / math.pi + 0.5,
        icdf=lambda d, p: d.loc + d.scale * (math.pi * (p - 0.5)).tan(),
    )

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, loc=loc, scale=scale)
