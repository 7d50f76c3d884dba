"""Probability distributions that can be drawn from and differentiated, under torch's names."""

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
        batch_shape: the shape of the batch: one number is drawn for each.
        has_rsample: whether draws can be differentiated by the parameters.
    """

    batch_shape: Shape
    has_rsample = False
    _validates = True

    def __init__(self, validate_args: bool | None = None) -> None:
        """Set whether parameters and values are looked at, if it is to be unlike the default."""
        if validate_args is not None:
            check_flags(validate_args=validate_args)
            self._validates = validate_args

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether distributions made from now on look at parameters and values.

        Where elements are on a device each look waits for what computes them.
        """
        check_flags(value=value)
        Distribution._validates = value

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return numbers drawn from each distribution, without history.

        Args:
            sample_shape: how many for each, as a shape.

        Returns:
            Shape (*sample_shape, *batch_shape).

        Raises:
            ShapeError: `sample_shape` is no shape.
        """
        with no_grad():
            return self._drawn(as_shape((tuple(sample_shape),)) + self.batch_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Return what `sample` does, as a function of the parameters.

        Raises:
            SettingError: draws from such a distribution have no derivative.
            ShapeError: `sample_shape` is no shape.
        """
        if not self.has_rsample:
            raise SettingError(
                f"what is drawn from {type(self).__name__} has no derivative: use sample(), and "
                "log_prob() of what was drawn."
            )
        return self._drawn(as_shape((tuple(sample_shape),)) + self.batch_shape)

    def _drawn(self, shape: Shape) -> Tensor:
        raise NotImplementedError

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability, or of its density, of values.

        Args:
            value: a tensor that can be broadcast with the batch.

        Returns:
            The shape of both, broadcast together.

        Raises:
            InputError: a value is none that can be drawn.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy of each distribution, in nats."""
        raise NotImplementedError

    def _check_parameters(self, what: str, *fits: Callable[[], Tensor], given: Tensor) -> None:
        """Raise InputError unless tests hold for all parameters, if they are looked at."""
        if self._validates and not all(test().all() for test in fits):
            raise InputError(f"{what}; {given} was given.")

    def _check_values(self, what: str, fits: Callable[[], Tensor], given: Tensor) -> None:
        """Raise InputError unless a test holds for all values, if they are looked at."""
        if self._validates and not fits().all():
            name = type(self).__name__
            raise InputError(f"log_prob() of {name} takes {what}; {given} holds others.")


def one_of(name: str, probs: Any, logits: Any) -> None:
    """Raise SettingError unless a distribution was given one of its two parameters."""
    if (probs is None) == (logits is None):
        raise SettingError(f"{name} takes either probs or logits, and not both.")


def parameter(name: str, value: Any, like: Any = None) -> Tensor:
    """Return a parameter of a distribution as a floating-point tensor.

    Raises:
        InputError: its elements are no floating-point numbers.
    """
    if not isinstance(value, Tensor):
        number = float(value)
        value = like.new_full((), number) if isinstance(like, Tensor) else mt.full((), number)
    if not value.dtype.is_floating_point:
        raise InputError(f"{name} holds floating-point numbers; {value.dtype.name} was given.")
    found: Tensor = value
    return found


def inside(probs: Tensor) -> Tensor:
    """Return probabilities that are neither 0 nor 1, so that their logarithms are finite."""
    eps = mt.finfo(probs.dtype).eps
    return probs.clamp(eps, 1.0 - eps)


# --- Normal ---------------------------------------------------------------------------------------


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
        self.loc, self.scale = mt.broadcast_tensors(mean, deviation)
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
        return self.loc + scale * mt.randn_like(scale)

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


# --- Discrete -------------------------------------------------------------------------------------


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
        return mt.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithms of the probabilities of zeros and ones."""
        require_tensors("log_prob", value)
        self._check_values("zeros and ones", lambda: (value == 0) | (value == 1), value)
        logits, value = mt.broadcast_tensors(self.logits, value.to(self.logits.dtype))
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
        return mt.multinomial(rows, count, replacement=True).T.reshape(shape)

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
        return mt.gather(rows, -1, value.long().expand(shape).unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        """Return the entropy of each, in nats."""
        finite = self.logits.clamp(min=mt.finfo(self.logits.dtype).min)  # 0 log 0 is 0
        found: Tensor = -(finite * self.probs).sum(-1)
        return found


# --- Divergence -----------------------------------------------------------------------------------


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
    found = mt.where(other == 0, math.inf, chance * difference)
    return mt.where(chance == 0, 0.0, found)  # type: ignore[arg-type,return-value]


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
