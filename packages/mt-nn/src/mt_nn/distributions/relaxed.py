"""Continuous relaxations of Bernoulli and OneHotCategorical, whose samples have derivatives.

If Gumbel noise is added to the logits, the index of the largest sum is a sample of the classes. A
relaxed sample is the softmax of the sums divided by a temperature, and almost one-hot if that is
near 0 (Maddison, Mnih and Teh, The Concrete Distribution, 2017; Jang, Gu and Poole, Categorical
Reparameterization with Gumbel-Softmax, 2017).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from mt_nn.distributions.constraints import Constraint, positive, simplex, unit_interval
from mt_nn.distributions.discrete import Chances, Choices, Classes
from mt_nn.distributions.distribution import inside, uniform
from mt_tensor import Tensor
from mt_tensor.extending import Shape


class _Relaxed(Choices):
    """Base class of relaxations, which have a temperature."""

    temperature: Tensor
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set(probs, logits, validate_args, temperature=temperature)


def _draw_bernoulli(d: Any, shape: Shape) -> Any:
    noise = uniform(d.temperature, shape).logit()
    return inside(((d.logits + noise) / d.temperature).sigmoid())


def _bernoulli_log_density(d: Any, x: Tensor) -> Any:
    y = inside(x).logit()
    difference = d.logits - d.temperature * y
    stretched = y.softplus() + (-y).softplus()  # -log of the derivative of the sigmoid
    return d.temperature.log() + difference - 2.0 * difference.softplus() + stretched


class RelaxedBernoulli(_Relaxed, Chances):
    """The distribution of `sigmoid((logits + noise) / temperature)` with logistic noise.

    Args:
        temperature: the temperatures, a tensor or a number.
        probs: the probabilities of 1 at temperature 0, a tensor or a number.
        logits: the log-odds instead, log(p / (1 - p)).
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        SettingError: neither or both of `probs` and `logits` are given.
        InputError: a temperature is not positive, or a probability is not between 0 and 1.
    """

    arg_constraints: ClassVar = {**Chances.arg_constraints, "temperature": positive}
    support = unit_interval
    formulas: ClassVar = {"sample": _draw_bernoulli, "log_prob": _bernoulli_log_density}


def _draw_categorical(d: Any, shape: Shape) -> Any:
    noise = -(-uniform(d.logits, shape).log()).log()
    return inside(((d.logits + noise) / d.temperature.unsqueeze(-1)).softmax(-1))


def _categorical_log_density(d: Any, x: Tensor) -> Any:
    logs, others = inside(x).log(), d.event_shape[0] - 1
    scores = (d.logits - d.temperature.unsqueeze(-1) * logs).log_softmax(-1)
    scale = math.lgamma(others + 1) + others * d.temperature.log()
    return (scores - logs).sum(-1) + scale


class RelaxedOneHotCategorical(_Relaxed, Classes):
    """The distribution of `softmax((logits + noise) / temperature)` with Gumbel noise.

    Args:
        temperature: the temperatures, a tensor or a number.
        probs: unnormalized probabilities of the classes, shape (*batch_shape, classes).
        logits: unnormalized log-probabilities instead.
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        SettingError: neither or both of `probs` and `logits` are given.
        InputError: a temperature is not positive, there are no classes, or probabilities are
            negative or all zero.
    """

    arg_constraints: ClassVar = {**Classes.arg_constraints, "temperature": positive}
    formulas: ClassVar = {"sample": _draw_categorical, "log_prob": _categorical_log_density}

    @property
    def support(self) -> Constraint:
        """The vectors of non-negative numbers whose sum is 1."""
        return simplex(self.temperature.dtype)
