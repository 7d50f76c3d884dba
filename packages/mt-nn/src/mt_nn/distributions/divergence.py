"""How far one distribution is from another: the divergence of Kullback and Leibler."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mt_nn.distributions.discrete import Bernoulli, Categorical
from mt_nn.distributions.distribution import Distribution
from mt_nn.distributions.normal import Normal
from mt_nn.errors import SettingError
from mt_tensor import Tensor, where


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the expectation under `p` of log p - log q, for each of a batch.

    >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0)).item()
    0.5

    Args:
        p: a distribution.
        q: one of the same kind, whose batch can be broadcast with that of `p`.

    Raises:
        SettingError: they are of two kinds, or of one that has no formula here.
    """
    for kind, formula in _FORMULAS.items():
        if isinstance(p, kind) and isinstance(q, kind):
            return formula(p, q)
    raise SettingError(
        f"kl_divergence() takes two of the same kind, which is {', '.join(_NAMES)}; "
        f"{type(p).__name__} and {type(q).__name__} were given."
    )


def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).square()
    distance = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + distance - 1.0 - ratio.log())


def _expected(chance: Tensor, difference: Tensor, other: Tensor) -> Tensor:
    """Return a difference of logarithms times the chance of it: 0 if there is none."""
    found = where(other == 0, math.inf, chance * difference)
    return where(chance == 0, 0.0, found)  # type: ignore[arg-type,return-value]


def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = (-q.logits).softplus() - (-p.logits).softplus()
    zeros = q.logits.softplus() - p.logits.softplus()
    return _expected(p.probs, ones, q.probs) + _expected(1 - p.probs, zeros, 1 - q.probs)


def _categorical(p: Categorical, q: Categorical) -> Tensor:
    return _expected(p.probs, p.logits - q.logits, q.probs).sum(-1)


_FORMULAS: dict[type, Callable[[Any, Any], Tensor]] = {
    Bernoulli: _bernoulli,
    Categorical: _categorical,
    Normal: _normal,
}
_NAMES = [kind.__name__ for kind in _FORMULAS]
