"""The exponential and gamma distributions, and those derived from Gamma: Beta and Dirichlet.

Samples of the gamma distribution are drawn as the logarithms of

    z = y exp(-e / a)    for y from Gamma(a + 1) and e from Exponential(1)

which is distributed as Gamma(a), and does not underflow for small `a` (Marsaglia and Tsang, A
Simple Method for Generating Gamma Variables, 2000). If z is the quantile of a fixed probability
F(z; a), its derivative with respect to `a` is `-(dF/da) / (dF/dz)`, the implicit gradient of a
sample (Figurnov, Mohamed and Mnih, Implicit Reparameterization Gradients, 2018). Samples of Beta
and Dirichlet are quotients of samples of Gamma, through which their gradients are propagated.

The integrals in F and dF/da, with t = z exp(-v), are

    F(z; a) / (z f(z; a)) = integral of exp(-a v + z (1 - exp(-v))) from v = 0 to infinity

and the same with a factor `log t - digamma(a)`; f is the density. For z > a, where the other tail
is shorter, they go from v = 0 to -infinity and are subtracted. The integrand is log-concave and
decreases from 1 at v = 0. The integrals end where it is below exp(-40), and are computed by
Gauss-Legendre quadrature, for a + 1 instead of `a`, since the integrand is then smooth for small
`a`: F(z; a) = F(z; a + 1) + z^a exp(-z) / gamma(a + 1). The relative error is about 1e-12.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import mt_tensor as mt
from mt_nn.distributions.constraints import (
    Constraint,
    nonnegative,
    positive,
    simplex,
    unit_interval,
    vectors,
)
from mt_nn.distributions.distribution import Distribution, constant, drawn_on_host, inside
from mt_tensor import Function, Tensor, no_grad
from mt_tensor.extending import Array, Shape

_SMALLEST = float(np.finfo(np.float64).tiny)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


def _tails(a: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
    """Return the integrals of the integrand and of `v * integrand`, for float64 `a >= 1`.

    If z < a, they are integrals from 0 to z, otherwise minus the integrals from z to infinity.
    """
    with no_grad():  # the gradient with respect to the end of an integral is negligible
        shift = 20.0 - (a - z)
        lower_end = (shift + (shift.square() + 80.0 * a).sqrt()) / a
        upper_end = 80.0 / ((z - a) + ((z - a).square() + 80.0 * z).sqrt())
        upper_end = upper_end.minimum(1.3 + (80.0 / z).log1p())
        end: Any = mt.where(z < a, lower_end, -upper_end)
    v = end.unsqueeze(-1) * a._uploaded(0.5 * (_NODES + 1.0))
    values = (-a.unsqueeze(-1) * v - z.unsqueeze(-1) * (-v).expm1()).exp()
    values = values * (end.unsqueeze(-1) * a._uploaded(0.5 * _WEIGHTS))
    return values.sum(-1), (values * v).sum(-1)


def gamma_cdf(a: Tensor, z: Tensor) -> Any:
    """Return the regularized lower incomplete gamma function."""
    a, z = a.double(), z.double().clamp_min(_SMALLEST)
    jump = (a * z.log() - z - (a + 1.0).lgamma()).exp()  # z f(z; a + 1) is z times it
    total = jump * (1.0 + z * _tails(a + 1.0, z)[0])
    return mt.where(z < a + 1.0, total, 1.0 + total)


def log_gamma_slope(a: Tensor, log_z: Tensor) -> Tensor:
    """Return the derivative of log z with respect to `a` for a fixed probability F(z; a)."""
    size, a, log_z = a.dtype, a.double(), log_z.double()
    z, distance = log_z.exp().clamp_min(_SMALLEST), log_z - (a + 1.0).digamma()
    total, moment = _tails(a + 1.0, z)
    slope = (z * (moment - distance * total) - distance) / a
    return slope.to(size)


class LogGamma(Function):
    """Draw logarithms of samples of Gamma(a), with the implicit gradient."""

    @staticmethod
    def forward(ctx: Any, a: Tensor) -> Tensor:
        """Draw samples on the host."""

        def draw(numbers: np.random.Generator, a: Array) -> Array:
            more = numbers.standard_gamma(a + 1.0)
            return np.log(more) - numbers.standard_exponential(a.shape) / a

        drawn = drawn_on_host(draw, a, a.shape)
        ctx.save_for_backward(a, drawn)
        return drawn

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """Multiply the gradient by the derivative of the quantiles."""
        return grad * log_gamma_slope(*ctx.saved_tensors)


# --- Waiting times --------------------------------------------------------------------------------


class Exponential(Distribution):
    """The exponential distribution: the time until the next event, for a constant rate of events.

    The density is `rate * exp(-rate * x)` for x >= 0.

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
    formulas: ClassVar = {
        "mean": lambda d: 1.0 / d.rate,
        "mode": constant(0.0),
        "variance": lambda d: d.rate**-2.0,
        "log_prob": lambda d, x: d.rate.log() - d.rate * x,
        "entropy": lambda d: 1.0 - d.rate.log(),
        "cdf": lambda d, x: -(-d.rate * x).expm1(),
        "icdf": lambda d, p: -(-p).log1p() / d.rate,
    }

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, rate=rate)


def _draw(d: Any, shape: Shape) -> Any:
    logs = LogGamma.apply(d.concentration.expand(shape)) - d.rate.log()
    return logs.exp().clamp_min(mt.finfo(logs.dtype).tiny)


def _log_density(d: Any, x: Tensor) -> Any:
    c = d.concentration
    return c.xlogy(d.rate) + (c - 1.0).xlogy(x) - d.rate * x - c.lgamma()


def _entropy(d: Any) -> Any:
    c = d.concentration
    return c - d.rate.log() + c.lgamma() + (1.0 - c) * c.digamma()


class Gamma(Distribution):
    """The gamma distribution: the time until the c-th event, for a constant rate of events.

    The density is `rate**c * x**(c - 1) * exp(-rate * x) / gamma(c)` for x >= 0; the concentration
    c need not be an integer.

    Args:
        concentration: the shape parameters, a tensor or a number.
        rate: the rates; both are broadcast.
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        InputError: a parameter is not positive.
    """

    concentration: Tensor
    rate: Tensor
    arg_constraints: ClassVar = {"concentration": positive, "rate": positive}
    support = nonnegative
    has_rsample = True
    formulas: ClassVar = {
        "sample": _draw,
        "mean": lambda d: d.concentration / d.rate,
        "mode": lambda d: ((d.concentration - 1.0) / d.rate).clamp_min(0.0),
        "variance": lambda d: d.concentration / d.rate.square(),
        "log_prob": _log_density,
        "entropy": _entropy,
        "cdf": lambda d, x: gamma_cdf(d.concentration, d.rate * x).to(d.rate.dtype),
    }

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, concentration=concentration, rate=rate)


# --- Numbers that sum to 1 ------------------------------------------------------------------------


def _normalized(x: Tensor) -> Tensor:
    return x / x.sum(-1, keepdim=True)


def _log_beta(d: Any) -> Any:
    """Return the logarithm of the multivariate beta function."""
    return d.concentration.lgamma().sum(-1) - d.concentration.sum(-1).lgamma()


def _variance(d: Any) -> Any:
    mean = _normalized(d.concentration)
    return mean * (1.0 - mean) / (d.concentration.sum(-1, keepdim=True) + 1.0)


def _dirichlet_entropy(d: Any) -> Any:
    c, total = d.concentration, d.concentration.sum(-1)
    logs = ((c - 1.0) * (c.digamma() - total.digamma().unsqueeze(-1))).sum(-1)
    return _log_beta(d) - logs


class Dirichlet(Distribution):
    """The Dirichlet distribution of n non-negative numbers that sum to 1.

    The density is the product of `x[i]**(c[i] - 1) / gamma(c[i])`, times `gamma(sum(c))`.

    Args:
        concentration: the parameters c, shape (*batch_shape, n).
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a parameter is not positive, or there are no dimensions.
    """

    concentration: Tensor
    arg_constraints: ClassVar = {"concentration": vectors(positive)}
    has_rsample = True
    formulas: ClassVar = {
        "sample": lambda d, shape: inside(
            LogGamma.apply(d.concentration.expand(shape)).softmax(-1)
        ),
        "mean": lambda d: _normalized(d.concentration),
        "mode": lambda d: _normalized((d.concentration - 1.0).clamp_min(0.0)),
        "variance": _variance,
        "log_prob": lambda d, x: (d.concentration - 1.0).xlogy(x).sum(-1) - _log_beta(d),
        "entropy": _dirichlet_entropy,
    }

    @property
    def support(self) -> Constraint:
        """The vectors of non-negative numbers whose sum is 1."""
        return simplex(self.concentration.dtype)

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, concentration=concentration)


class Beta(Distribution):
    """The beta distribution of a number between 0 and 1.

    The density is `x**(a - 1) * (1 - x)**(b - 1) * gamma(a + b) / (gamma(a) * gamma(b))`.

    Args:
        concentration1: a, a tensor or a number; large for samples near 1.
        concentration0: b, large for samples near 0; both are broadcast.
        validate_args: whether to check parameters and values.

    Raises:
        InputError: a parameter is not positive.
    """

    concentration1: Tensor
    concentration0: Tensor
    concentration: Tensor  # both, stacked, as in Dirichlet
    arg_constraints: ClassVar = {"concentration1": positive, "concentration0": positive}
    support = unit_interval
    has_rsample = True
    formulas: ClassVar = {
        "sample": lambda d, shape: Dirichlet.formulas["sample"](d, (*shape, 2))[..., 0],
        "mean": lambda d: Dirichlet.formulas["mean"](d)[..., 0],
        "mode": lambda d: Dirichlet.formulas["mode"](d)[..., 0],
        "variance": lambda d: _variance(d)[..., 0],
        "log_prob": lambda d, x: Dirichlet.formulas["log_prob"](d, mt.stack([x, 1.0 - x], -1)),
        "entropy": _dirichlet_entropy,
    }

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        given = {"concentration1": concentration1, "concentration0": concentration0}
        super().__init__(validate_args, **given)
        self.concentration = mt.stack([self.concentration1, self.concentration0], -1)
