"""Distributions of zeros and ones, classes and counts."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

import mt_tensor as mt
from mt_nn.distributions import constraints
from mt_nn.distributions.constraints import Constraint
from mt_nn.distributions.distribution import Distribution, clamped, drawn_on_host
from mt_nn.errors import SettingError
from mt_nn.functional import binary_cross_entropy_with_logits, one_hot
from mt_tensor import Tensor, enable_grad
from mt_tensor.extending import Shape, shape_broadcast, size_of


class Choices(Distribution):
    """Base class of distributions with probabilities or logits.

    Subclasses compute the other one on first use, in a cached property.
    """

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set(probs, logits, validate_args)

    def _set(self, probs: Any, logits: Any, validate_args: bool | None, **others: Any) -> None:
        """Store probabilities or logits, and the other parameters of a subclass."""
        if (probs is None) == (logits is None):
            raise SettingError(f"{type(self).__name__} takes either probs or logits.")
        given = {"logits": logits} if probs is None else {"probs": probs}
        super().__init__(validate_args, **given, **others)
        self._normalize(*given)

    def _normalize(self, given: str) -> None:
        """Normalize the given parameter, `"probs"` or `"logits"`; do nothing by default."""


# --- Zeros and ones -------------------------------------------------------------------------------


class Chances(Choices):
    """Base class of distributions with a probability of the value 1."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}

    @cached_property
    def probs(self) -> Tensor:
        """The probabilities of 1."""
        with enable_grad():
            return self.logits.sigmoid()

    @cached_property
    def logits(self) -> Tensor:
        """The log-odds."""
        with enable_grad():
            return clamped(self.probs).logit()


def _log_probability(d: Any, x: Tensor) -> Any:
    logits, values = mt.broadcast_tensors(d.logits, x.to(d.logits.dtype))
    return -binary_cross_entropy_with_logits(logits, values, reduction="none")


class Bernoulli(Chances):
    """The Bernoulli distribution: 1 with probability `probs`, otherwise 0.

    Args:
        probs: the probabilities of 1, a tensor or a number.
        logits: the log-odds instead, log(p / (1 - p)).
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        SettingError: neither or both of `probs` and `logits` are given.
        InputError: a probability is not between 0 and 1.
    """

    support = constraints.boolean
    formulas: ClassVar = {
        "sample": lambda d, shape: mt.bernoulli(d.probs.expand(shape)),
        "mean": lambda d: d.probs,
        "mode": lambda d: (d.probs > 0.5).to(d.probs.dtype).masked_fill(d.probs == 0.5, math.nan),
        "variance": lambda d: d.probs * (1.0 - d.probs),
        "log_prob": _log_probability,
        "entropy": lambda d: binary_cross_entropy_with_logits(d.logits, d.probs, reduction="none"),
    }


# --- Classes --------------------------------------------------------------------------------------


class Classes(Choices):
    """Base class of distributions with probabilities of classes."""

    arg_constraints: ClassVar = {
        "probs": constraints.weights,
        "logits": constraints.vectors(constraints.real),
    }

    def _normalize(self, given: str) -> None:
        if given == "logits":
            self.logits = self.logits.log_softmax(-1)
        else:
            self.probs = self.probs / self.probs.sum(-1, keepdim=True)

    @cached_property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        with enable_grad():
            return self.logits.softmax(-1)

    @cached_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        with enable_grad():
            return clamped(self.probs).log()


def _draw_classes(d: Any, shape: Shape) -> Any:
    rows = d.probs.reshape(-1, d.probs.shape[-1])
    count = size_of(shape[: len(shape) - len(d.batch_shape)])
    if not count or not rows.shape[0]:
        return d.probs.new_empty(shape, dtype="int64")
    return mt.multinomial(rows, count, replacement=True).T.reshape(shape)


def _log_probability_of_class(d: Any, x: Tensor) -> Any:
    shape = shape_broadcast(x.shape, d.batch_shape)
    rows, index = d.logits, x.long()
    if shape != d.batch_shape:
        rows = rows.expand(*shape, rows.shape[-1])
    if shape != x.shape:
        index = index.expand(shape)
    return rows.gather(-1, index.unsqueeze(-1)).squeeze(-1)


def _entropy(d: Any) -> Any:
    finite = d.logits.clamp(min=mt.finfo(d.logits.dtype).min)  # 0 log 0 is 0
    return -(finite * d.probs).sum(-1)


class Categorical(Classes):
    """The categorical distribution over classes, which are numbered from 0.

    Args:
        probs: unnormalized probabilities of the classes, shape (*batch_shape, classes).
        logits: unnormalized log-probabilities instead.
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        SettingError: neither or both of `probs` and `logits` are given.
        InputError: there are no classes, or probabilities are negative or all zero.
    """

    formulas: ClassVar = {
        "sample": _draw_classes,
        "mean": lambda d: d.probs.new_full(d.batch_shape, math.nan),
        "mode": lambda d: d.probs.argmax(-1),
        "variance": lambda d: d.probs.new_full(d.batch_shape, math.nan),
        "log_prob": _log_probability_of_class,
        "entropy": _entropy,
    }

    @property
    def support(self) -> Constraint:
        """The indices of the classes."""
        return constraints.integers_below(self._sizes[0])


def _vectors(d: Any, classes: Tensor) -> Any:
    return one_hot(classes, d.event_shape[0]).to(d.probs.dtype)


class OneHotCategorical(Classes):
    """A categorical distribution whose samples are one-hot vectors.

    Args:
        probs: unnormalized probabilities of the classes, shape (*batch_shape, classes).
        logits: unnormalized log-probabilities instead.
        validate_args: whether to check parameters and values.

    Raises:
        SettingError: neither or both of `probs` and `logits` are given.
        InputError: there are no classes, or probabilities are negative or all zero.
    """

    support = constraints.one_hot
    formulas: ClassVar = {
        "sample": lambda d, shape: _vectors(d, _draw_classes(d, shape[:-1])),
        "mean": lambda d: d.probs,
        "mode": lambda d: _vectors(d, d.probs.argmax(-1)),
        "variance": lambda d: d.probs * (1.0 - d.probs),
        "log_prob": lambda d, x: _log_probability_of_class(d, x.argmax(-1)),
        "entropy": _entropy,
    }


# --- Counts ---------------------------------------------------------------------------------------


def _log_probability_of_count(d: Any, x: Tensor) -> Any:
    counts = x.to(d.rate.dtype)
    return counts.xlogy(d.rate) - d.rate - (counts + 1.0).lgamma()


class Poisson(Distribution):
    """The Poisson distribution: the number of independent events in an interval.

    The probability of k is `rate**k * exp(-rate) / k!`.

    Args:
        rate: the mean numbers of events per interval, a tensor or a number.
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        InputError: a rate is negative.
    """

    rate: Tensor
    arg_constraints: ClassVar = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    formulas: ClassVar = {
        "sample": lambda d, shape: drawn_on_host(np.random.Generator.poisson, d.rate, shape),
        "mean": lambda d: d.rate,
        "mode": lambda d: d.rate.floor(),
        "variance": lambda d: d.rate,
        "log_prob": _log_probability_of_count,
    }

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, rate=rate)
