"""Probability distributions, for sampling and differentiation, with the names of torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mt_tensor as mt
from mt_nn.errors import InputError, SettingError
from mt_nn.functional import binary_cross_entropy_with_logits
from mt_nn.utils.settings import check_flags
from mt_tensor import Tensor, no_grad
from mt_tensor.extending import Shape, as_shape, require_tensors, shape_broadcast, size_of

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal", "kl_divergence"]


class Distribution:
    """A batch of independent distributions; make one of its subclasses.

    Attributes:
        batch_shape: the shape of the batch; a sample has one element per distribution.
        has_rsample: whether samples can be differentiated with respect to the parameters.
    """

    batch_shape: Shape
    has_rsample = False
    _validates = True

    def __init__(self, validate_args: bool | None = None) -> None:
        """Set whether to check parameters and values; None for the default."""
        if validate_args is not None:
            check_flags(validate_args=validate_args)
            self._validates = validate_args

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether new distributions check parameters and values by default.

        A check waits for the device of the elements.
        """
        check_flags(value=value)
        Distribution._validates = value

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples of each distribution, without a graph.

        Args:
            sample_shape: the number of samples of each, as a shape.

        Returns:
            Shape (*sample_shape, *batch_shape).

        Raises:
            ShapeError: `sample_shape` is not a shape.
        """
        with no_grad():
            return self._drawn(as_shape((tuple(sample_shape),)) + self.batch_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return samples as a differentiable function of the parameters.

        Raises:
            SettingError: samples of the distribution have no derivative.
            ShapeError: `sample_shape` is not a shape.
        """
        if not self.has_rsample:
            raise SettingError(
                f"samples of {type(self).__name__} have no derivative: use sample(), and "
                "log_prob() of the samples."
            )
        return self._drawn(as_shape((tuple(sample_shape),)) + self.batch_shape)

    def _drawn(self, shape: Shape) -> Tensor:
        raise NotImplementedError

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability, or of its density, of values.

        Args:
            value: a tensor that can be broadcast with the batch.

        Returns:
            The broadcast shape.

        Raises:
            InputError: a value is outside of the support.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy of each distribution, in nats."""
        raise NotImplementedError

    def _check_parameters(
        self, expected: str, *conditions: Callable[[], Tensor], given: Tensor
    ) -> None:
        """Raise InputError unless the conditions hold for all parameters, if they are checked."""
        if self._validates and not all(condition().all() for condition in conditions):
            raise InputError(f"{type(self).__name__} takes {expected}; {given} was given.")

    def _check_values(self, expected: str, condition: Callable[[], Tensor], given: Tensor) -> None:
        """Raise InputError unless a condition holds for all values, if they are checked."""
        if self._validates and not condition().all():
            name = type(self).__name__
            raise InputError(f"log_prob() of {name} takes {expected}; {given} was given.")


def one_of(name: str, probs: Any, logits: Any) -> None:
    """Raise SettingError unless either `probs` or `logits` is given."""
    if (probs is None) == (logits is None):
        raise SettingError(f"{name} takes either probs or logits.")


def parameter(name: str, value: Any, like: Any = None) -> Tensor:
    """Return a parameter of a distribution as a floating-point tensor.

    Raises:
        InputError: it is a tensor that is not floating-point.
    """
    if not isinstance(value, Tensor):
        number = float(value)
        value = like.new_full((), number) if isinstance(like, Tensor) else mt.full((), number)
    if not value.dtype.is_floating_point:
        raise InputError(f"{name} must be floating-point; {value.dtype.name} was given.")
    result: Tensor = value
    return result


def clamped(probs: Tensor) -> Tensor:
    """Clamp probabilities between 0 and 1, exclusively, so that their logarithms are finite."""
    eps = mt.finfo(probs.dtype).eps
    return probs.clamp(eps, 1.0 - eps)


# --- Normal ---------------------------------------------------------------------------------------


class Normal(Distribution):
    """The normal (Gaussian) distribution.

    >>> from mt_tensor import tensor
    >>> Normal(0.0, 2.0).log_prob(tensor([0.0, 2.0]))
    tensor([-1.6121, -2.1121])

    Args:
        loc: the means, a tensor or a number.
        scale: the standard deviations, a tensor or a number; both are broadcast.
        validate_args: whether to check parameters, which waits for the device.

    Raises:
        InputError: a mean is nan, or a standard deviation is not positive.
    """

    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args)
        mean, deviation = parameter("loc", loc, scale), parameter("scale", scale, loc)
        self._check_parameters("means other than nan", lambda: mean == mean, given=mean)
        self._check_parameters(
            "positive standard deviations", lambda: deviation > 0, given=deviation
        )
        self.loc, self.scale = mt.broadcast_tensors(mean, deviation)
        self.batch_shape = self.loc.shape

    @property
    def mean(self) -> Tensor:
        """The mean of each distribution."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """The standard deviation of each distribution."""
        return self.scale

    @property
    def variance(self) -> Tensor:
        """The variance of each distribution."""
        return self.scale.square()

    def _drawn(self, shape: Shape) -> Tensor:
        """Return `loc + scale * noise`."""
        scale = self.scale.expand(shape)
        return self.loc + scale * mt.randn_like(scale)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the densities of values."""
        require_tensors("log_prob", value)
        distance = (value - self.loc) / self.scale
        return -0.5 * distance.square() - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of a sample below each of the values."""
        require_tensors("cdf", value)
        return ((value - self.loc) / self.scale).ndtr()

    def entropy(self) -> Tensor:
        """Return the entropy of each distribution, in nats."""
        return self.scale.log() + 0.5 * (1.0 + math.log(2 * math.pi))


# --- Discrete -------------------------------------------------------------------------------------


class Bernoulli(Distribution):
    """The distribution of 1 with a probability, and otherwise 0.

    >>> from mt_tensor import tensor
    >>> Bernoulli(probs=tensor([0.25])).log_prob(tensor([1.0])).exp()
    tensor([0.2500])

    Args:
        probs: the probabilities of 1, a tensor or a number.
        logits: the log-odds instead, log(p / (1 - p)).
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        SettingError: neither or both of `probs` and `logits` are given.
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
                "logits other than nan", lambda: self.logits == self.logits, given=self.logits
            )
            self.probs = self.logits.sigmoid()
        else:
            self.probs = parameter("probs", probs)
            self._check_parameters(
                "probabilities between 0 and 1",
                lambda: (self.probs >= 0) & (self.probs <= 1),
                given=self.probs,
            )
            safe = clamped(self.probs)
            self.logits = safe.log() - (-safe).log1p()
        self.batch_shape = self.probs.shape

    @property
    def mean(self) -> Tensor:
        """The mean of each distribution."""
        return self.probs

    @property
    def variance(self) -> Tensor:
        """The variance of each distribution."""
        return self.probs * (1.0 - self.probs)

    def _drawn(self, shape: Shape) -> Tensor:
        return mt.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of zeros and ones."""
        require_tensors("log_prob", value)
        self._check_values("zeros and ones", lambda: (value == 0) | (value == 1), value)
        logits, value = mt.broadcast_tensors(self.logits, value.to(self.logits.dtype))
        losses: Tensor = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return -losses

    def entropy(self) -> Tensor:
        """Return the entropy of each distribution, in nats."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Categorical(Distribution):
    """A distribution over classes, which are numbered from 0.

    >>> from mt_tensor import tensor
    >>> Categorical(tensor([1.0, 3.0])).probs
    tensor([0.2500, 0.7500])

    Args:
        probs: unnormalized probabilities of the classes, shape (*batch_shape, classes).
        logits: unnormalized log-probabilities instead.
        validate_args: whether to check parameters and values, which waits for the device.

    Raises:
        SettingError: neither or both of `probs` and `logits` are given.
        InputError: there are no classes, or probabilities are negative or all zero.
    """

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(validate_args)
        one_of("Categorical", probs, logits)
        given = parameter(*(("logits", logits) if probs is None else ("probs", probs)))
        if not given.ndim or not given.shape[-1]:
            raise InputError(
                f"Categorical takes classes in the last dimension; shape {given.shape} was given."
            )
        if probs is None:
            self._check_parameters("logits other than nan", lambda: given == given, given=given)
            self.logits = given - given.logsumexp(-1, keepdim=True)
            self.probs = given.softmax(-1)
        else:
            total = given.sum(-1, keepdim=True)
            self._check_parameters(
                "non-negative probabilities, which are not all zero",
                lambda: given >= 0,
                lambda: total > 0,
                given=given,
            )
            self.probs = given / total
            self.logits = clamped(self.probs).log()
        self.batch_shape = given.shape[:-1]

    @property
    def mode(self) -> Tensor:
        """The most probable class of each distribution."""
        return self.probs.argmax(-1)

    def _drawn(self, shape: Shape) -> Tensor:
        classes = self.probs.shape[-1]
        rows = self.probs.reshape(-1, classes)
        count = size_of(shape[: len(shape) - len(self.batch_shape)])
        if not count or not rows.shape[0]:
            return self.probs.new_empty(shape, dtype="int64")
        return mt.multinomial(rows, count, replacement=True).T.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of classes.

        Args:
            value: class indices, which can be broadcast with the batch.

        Raises:
            InputError: a class is out of range.
        """
        require_tensors("log_prob", value)
        classes = self.logits.shape[-1]
        self._check_values(
            f"classes from 0 to {classes - 1}",
            lambda: (value >= 0) & (value < classes) & (value == value.long()),
            value,
        )
        shape = shape_broadcast(value.shape, self.batch_shape)
        rows = self.logits.expand(*shape, classes)
        return mt.gather(rows, -1, value.long().expand(shape).unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        """Return the entropy of each distribution, in nats."""
        finite = self.logits.clamp(min=mt.finfo(self.logits.dtype).min)  # 0 log 0 is 0
        negative: Tensor = (finite * self.probs).sum(-1)
        return -negative


# --- Divergence -----------------------------------------------------------------------------------


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence, the expectation under `p` of log p - log q.

    >>> kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0)).item()
    0.5

    Args:
        p: a distribution.
        q: a distribution of the same class, whose batch can be broadcast with that of `p`.

    Raises:
        SettingError: the classes differ, or there is no formula for the class.
    """
    for kind, formula in _FORMULAS.items():
        if isinstance(p, kind) and isinstance(q, kind):
            return formula(p, q)
    names = [kind.__name__ for kind in _FORMULAS]
    raise SettingError(
        f"kl_divergence() takes two distributions of one class, {', '.join(names)}; "
        f"{type(p).__name__} and {type(q).__name__} were given."
    )


def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).square()
    distance = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + distance - 1.0 - ratio.log())


def _term(p: Tensor, log_ratio: Tensor, q: Tensor) -> Tensor:
    """Return `p * log(p / q)` of probabilities: 0 if p is 0, and infinity if only q is."""
    term = mt.where(q == 0, math.inf, p * log_ratio)
    return mt.where(p == 0, 0.0, term)  # type: ignore[arg-type,return-value]


def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = (-q.logits).softplus() - (-p.logits).softplus()
    zeros = q.logits.softplus() - p.logits.softplus()
    return _term(p.probs, ones, q.probs) + _term(1 - p.probs, zeros, 1 - q.probs)


def _categorical(p: Categorical, q: Categorical) -> Tensor:
    return _term(p.probs, p.logits - q.logits, q.probs).sum(-1)


_FORMULAS: dict[type, Callable[[Any, Any], Tensor]] = {
    Bernoulli: _bernoulli,
    Categorical: _categorical,
    Normal: _normal,
}
