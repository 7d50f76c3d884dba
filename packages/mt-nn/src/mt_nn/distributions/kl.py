"""Kullback-Leibler divergences, with one formula for each pair of classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mt_tensor as mt
from mt_nn.distributions.discrete import Bernoulli, Categorical, OneHotCategorical, Poisson
from mt_nn.distributions.distribution import HALF_LOG_2_PI, Distribution
from mt_nn.distributions.gamma import Beta, Dirichlet, Exponential, Gamma
from mt_nn.distributions.independent import Independent, total
from mt_nn.distributions.location_scale import Cauchy, Laplace, LogNormal, Normal, Uniform
from mt_nn.distributions.vectors import MultivariateNormal, half_log_det, inverse_factor
from mt_nn.errors import SettingError
from mt_tensor import Tensor


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence, the expectation under `p` of log p - log q.

    Args:
        p: a distribution.
        q: a distribution whose batch can be broadcast with that of `p`, usually of the same class.

    Raises:
        SettingError: there is no formula for the classes.
    """
    for (one, other), formula in _FORMULAS.items():
        if isinstance(p, one) and isinstance(q, other):
            return formula(p, q)
    raise SettingError(
        f"kl_divergence() has no formula for {type(p).__name__} and {type(q).__name__}; most "
        "formulas are for two distributions of the same class."
    )


# --- Discrete -------------------------------------------------------------------------------------


def _term(p: Tensor, log_ratio: Tensor, q: Tensor) -> Any:
    """Return `p * log(p / q)` of probabilities: 0 if p is 0, and infinity if only q is."""
    term: Any = mt.where(q == 0, math.inf, p * log_ratio)
    return mt.where(p == 0, 0.0, term)


def _bernoulli(p: Any, q: Any) -> Any:
    ones = (-q.logits).softplus() - (-p.logits).softplus()
    zeros = q.logits.softplus() - p.logits.softplus()
    return _term(p.probs, ones, q.probs) + _term(1 - p.probs, zeros, 1 - q.probs)


def _classes(p: Any, q: Any) -> Any:
    return _term(p.probs, p.logits - q.logits, q.probs).sum(-1)


# --- Continuous -----------------------------------------------------------------------------------


def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).square()
    distance = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + distance - 1.0 - ratio.log())


def _vectors(p: Any, q: Any) -> Any:
    inverse = inverse_factor(q)
    moved = inverse @ (p.loc - q.loc).unsqueeze(-1)
    squares = (inverse @ p.scale_tril).square().sum(-1).sum(-1) + moved.square().sum(-1).sum(-1)
    return half_log_det(q) - half_log_det(p) + 0.5 * (squares - p.event_shape[0])


def _to_normal(p: Any, q: Any) -> Any:
    # The expectation of the logarithm of a normal density needs only mean and variance.
    squares = (p.variance + (p.mean - q.loc).square()) / q.scale.square()
    return q.scale.log() + HALF_LOG_2_PI + 0.5 * squares - p.entropy()


def _normal_to_laplace(p: Any, q: Any) -> Any:
    z = (p.loc - q.loc) / p.scale
    distance = math.sqrt(2 / math.pi) * (-0.5 * z.square()).exp() + z * (z / math.sqrt(2)).erf()
    return (2.0 * q.scale).log() + p.scale / q.scale * distance - p.entropy()


def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return distance / q.scale + ratio * (-distance / p.scale).exp() - 1.0 - ratio.log()


def _cauchy(p: Any, q: Any) -> Any:
    squares = (p.scale + q.scale).square() + (p.loc - q.loc).square()
    return squares.log() - (4.0 * p.scale * q.scale).log()


def _uniform(p: Any, q: Any) -> Any:
    outside = (p.low < q.low) | (p.high > q.high)
    ratio = (q.high - q.low).log() - (p.high - p.low).log()
    return mt.where(outside, math.inf, ratio)


def _gamma(p: Any, q: Any) -> Any:
    # An exponential distribution is a gamma distribution with the concentration 1.
    one, other = (getattr(d, "concentration", mt.ones_like(d.rate)) for d in (p, q))
    return (
        other * (p.rate.log() - q.rate.log())
        + (other.lgamma() - one.lgamma())
        + (one - other) * one.digamma()
        + one * (q.rate / p.rate - 1.0)
    )


def _dirichlet(p: Any, q: Any) -> Any:
    c, other = p.concentration, q.concentration
    logs = ((c - other) * (c.digamma() - c.sum(-1, keepdim=True).digamma())).sum(-1)
    return (
        (other.lgamma() - c.lgamma()).sum(-1) + c.sum(-1).lgamma() - other.sum(-1).lgamma() + logs
    )


def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise SettingError(
            "kl_divergence() takes Independent distributions with the same "
            f"reinterpreted_batch_ndims; got {p.reinterpreted_batch_ndims} and "
            f"{q.reinterpreted_batch_ndims}."
        )
    return total(p, kl_divergence(p.base_dist, q.base_dist))


_FORMULAS: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {
    (Bernoulli, Bernoulli): _bernoulli,
    (Bernoulli, Poisson): lambda p, q: q.rate - p.probs * q.rate.log() - p.entropy(),
    (Categorical, Categorical): _classes,
    (OneHotCategorical, OneHotCategorical): _classes,
    (Poisson, Poisson): lambda p, q: p.rate.xlogy(p.rate / q.rate) - p.rate + q.rate,
    (Normal, Normal): _normal,
    (LogNormal, LogNormal): _normal,
    (MultivariateNormal, MultivariateNormal): _vectors,
    **{(p, Normal): _to_normal for p in (Beta, Exponential, Gamma, Laplace, Uniform)},
    (Normal, Laplace): _normal_to_laplace,
    (Laplace, Laplace): _laplace,
    (Cauchy, Cauchy): _cauchy,
    (Uniform, Uniform): _uniform,
    **{(p, q): _gamma for p in (Exponential, Gamma) for q in (Exponential, Gamma)},
    (Beta, Exponential): lambda p, q: q.rate * p.mean - q.rate.log() - p.entropy(),
    (Beta, Beta): _dirichlet,
    (Dirichlet, Dirichlet): _dirichlet,
    (Independent, Independent): _independent,
}
