"""Distributions of integers: a coin, and a choice among classes."""

from __future__ import annotations

from typing import Any

from mt_nn.distributions.distribution import Distribution, inside, one_of, parameter
from mt_nn.errors import InputError
from mt_nn.functional import binary_cross_entropy_with_logits
from mt_tensor import Tensor, bernoulli, broadcast_tensors, finfo, gather, multinomial
from mt_tensor.extending import Shape, require_tensors, shape_broadcast, size_of


class Bernoulli(Distribution):
    """A coin: 1 with a probability, else 0.

    >>> from mt_tensor import tensor
    >>> Bernoulli(probs=tensor([0.25])).log_prob(tensor([1.0])).exp()
    tensor([0.2500])

    Args:
        probs: the probabilities of 1, a tensor or a number.
        logits: the logarithms of the odds instead, log(p / (1 - p)).
        validate_args: whether to look at parameters and values, which waits for a device that
            computes them.

    Raises:
        SettingError: both were given, or neither.
        InputError: a probability is not between 0 and 1.
    """

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(validate_args)
        one_of("Bernoulli", probs, logits)
        if probs is None:
            self.logits = parameter("logits", logits)
            self._check_parameters(
                "logits are numbers", lambda: self.logits == self.logits, given=self.logits
            )
            self.probs = self.logits.sigmoid()
        else:
            self.probs = parameter("probs", probs)
            self._check_parameters(
                "probabilities lie between 0 and 1",
                lambda: (self.probs >= 0) & (self.probs <= 1),
                given=self.probs,
            )
            safe = inside(self.probs)
            self.logits = safe.log() - (-safe).log1p()
        self.batch_shape = self.probs.shape

    @property
    def mean(self) -> Tensor:
        """The mean of each."""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """The variance of each."""
        return self.probs * (1.0 - self.probs)

    def _drawn(self, shape: Shape) -> Tensor:
        return bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of zeros and ones."""
        require_tensors("log_prob", value)
        self._check_values("zeros and ones", lambda: (value == 0) | (value == 1), value)
        logits, value = broadcast_tensors(self.logits, value.to(self.logits.dtype))
        found: Tensor = -binary_cross_entropy_with_logits(logits, value, reduction="none")
        return found

    def entropy(self) -> Tensor:
        """Return the entropy of each, in nats."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical(Distribution):
    """A choice among classes, which are numbered from 0.

    >>> from mt_tensor import tensor
    >>> Categorical(tensor([1.0, 3.0])).probs
    tensor([0.2500, 0.7500])

    Args:
        probs: for each class a weight, in proportion to its probability. Shape
            (*batch_shape, classes).
        logits: the logarithms of the weights instead.
        validate_args: whether to look at parameters and values, which waits for a device that
            computes them.

    Raises:
        SettingError: both were given, or neither.
        InputError: there are no classes, or weights are negative or all zero.
    """

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(validate_args)
        one_of("Categorical", probs, logits)
        given = parameter(*(("logits", logits) if probs is None else ("probs", probs)))
        if not given.ndim or not given.shape[-1]:
            raise InputError(f"Categorical needs classes along the last dimension; {given.shape}.")
        if probs is None:
            self._check_parameters("logits are numbers", lambda: given == given, given=given)
            self.logits = given - given.logsumexp(-1, keepdim=True)
            self.probs = given.softmax(-1)
        else:
            total = given.sum(-1, keepdim=True)
            self._check_parameters(
                "weights of classes are not negative, and not all zero",
                lambda: given >= 0,
                lambda: total > 0,
                given=given,
            )
            self.probs = given / total
            self.logits = inside(self.probs).log()
        self.batch_shape = given.shape[:-1]

    @property
    def mode(self) -> Tensor:
        """The likeliest class of each."""
        return self.probs.argmax(-1)

    def _drawn(self, shape: Shape) -> Tensor:
        classes = self.probs.shape[-1]
        rows = self.probs.reshape(-1, classes)
        count = size_of(shape[: len(shape) - len(self.batch_shape)])
        if not count or not rows.shape[0]:
            return self.probs.new_empty(shape, dtype="int64")
        return multinomial(rows, count, replacement=True).T.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of classes.

        Args:
            value: numbers of classes, which can be broadcast with the batch.

        Raises:
            InputError: there is no such class.
        """
        require_tensors("log_prob", value)
        classes = self.logits.shape[-1]
        self._check_values(
            f"numbers of classes from 0 to {classes - 1}",
            lambda: (value >= 0) & (value < classes) & (value == value.long()),
            value,
        )
        shape = shape_broadcast(value.shape, self.batch_shape)
        rows = self.logits.expand(*shape, classes)
        return gather(rows, -1, value.long().expand(shape).unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        """Return the entropy of each, in nats."""
        finite = self.logits.clamp(min=finfo(self.logits.dtype).min)  # 0 log 0 is 0
        found: Tensor = -(finite * self.probs).sum(-1)
        return found
