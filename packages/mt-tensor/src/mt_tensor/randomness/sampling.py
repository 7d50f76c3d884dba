"""Random numbers that tensors give rise to: trials, choices by weight, and filling in place.

Trials and real numbers are drawn where the tensors are, as `continuous.py` has it; choices and
whole numbers on the host, for how many random bits each of them takes depends on those bits.
Probabilities in a tensor are looked at there, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_tensor.checks import validate_call
from mt_tensor.core.arguments import as_integer, check_addressable, check_floating
from mt_tensor.core.conversion import cast
from mt_tensor.core.creation import unit
from mt_tensor.core.dtypes import Array, DType, as_number, float64, int64
from mt_tensor.core.elementwise import elementwise
from mt_tensor.core.generator import Generator, drawing
from mt_tensor.core.operands import common_backend
from mt_tensor.core.strides import Shape
from mt_tensor.core.tensor import Tensor
from mt_tensor.errors import DomainError, ShapeError
from mt_tensor.limits import finfo
from mt_tensor.randomness.continuous import between, standard_normal, waiting_times
from mt_tensor.recording.one_call import as_one_call


def whole_values(generator: Generator | None, shape: Shape, low: int, high: int) -> Array:
    """Return integers from `low` to `high`, both included; as uint64 what int64 does not hold."""
    dtype = np.uint64 if high >= 1 << 63 else np.int64
    with drawing(generator) as numbers:
        return np.asarray(numbers.integers(low, high, shape, dtype, endpoint=True))


@as_one_call
def check_deviation(std: Any) -> None:
    """Raise DomainError unless a number, or all elements of a tensor, are at least 0."""
    if not np.all(np.asarray(std._numbers() if isinstance(std, Tensor) else std) >= 0):
        raise DomainError(f"a standard deviation is at least 0; {std!r} was given.")


def _outcomes(like: Tensor, p: Any, generator: Generator | None) -> Tensor:
    """Return True with probability `p`, a number or a tensor, in the shape of another.

    Raises:
        DomainError: a probability is not between 0 and 1.
    """
    chance = p if isinstance(p, Tensor) else as_number("p", p)
    _check_probabilities(chance)
    drawn = unit(generator, like.shape, float64, like.backend)
    return elementwise("lt", drawn, chance)


@as_one_call
def _check_probabilities(p: Any) -> None:
    """Raise DomainError unless a number, or all elements of a tensor, are probabilities."""
    chances = np.asarray(p._numbers() if isinstance(p, Tensor) else p)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise DomainError("probabilities lie between 0 and 1; others, or nan, were given.")


def _whole_range(dtype: DType) -> tuple[int, int]:
    """Return the lowest and the highest number between which a type holds every whole number."""
    if dtype.is_floating_point:
        highest = int(2 / finfo(dtype).eps)
        return -highest, highest
    return dtype.lowest, dtype.highest


# --- Trials and choices -------------------------------------------------------------------------


@validate_call
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Return ones and zeros: each is one with the probability that `input` holds there.

    Args:
        input: probabilities, of any shape. The result has its shape, element type and backend.
        p: one probability for all elements, in place of those in `input`.
        generator: where the random numbers come from.

    Raises:
        DomainError: a probability is not between 0 and 1.
        DTypeError: `input` holds probabilities but is no floating-point tensor.
    """
    if p is None:
        check_floating("bernoulli", input)
    chances = input.detach() if p is None else p
    return cast(_outcomes(input, chances, generator), input.dtype)


@validate_call
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Return indices drawn with probabilities in proportion to the weights in each row.

    Args:
        input: the weights: shape (categories,) or (rows, categories), floating-point numbers that
            need not sum to one.
        num_samples: how many indices to draw for each row.
        replacement: whether an index may be drawn more than once.
        generator: where the random numbers come from.

    Returns:
        int64, shape (num_samples,) or (rows, num_samples).

    Raises:
        DTypeError: `input` is not a floating-point tensor.
        ShapeError: `input` has another number of dimensions, or no categories, or there would be
            too many indices.
        DomainError: `num_samples` is not positive, a weight is negative, infinite or nan, a row has
            no weight, or fewer than `num_samples` categories have one, without replacement.
        TypeError: `num_samples` is not an integer.
    """
    check_floating("multinomial", input)
    num_samples = as_integer("num_samples", num_samples, least=1)
    if input.ndim not in (1, 2) or input.shape[-1] == 0:
        raise ShapeError(
            "multinomial() takes weights of shape (categories,) or (rows, categories), at least "
            f"one category; {input.shape} was given."
        )
    check_addressable((*input.shape[:-1], num_samples))
    weights = np.asarray(input._numbers(), np.float64)
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise DomainError("weights are finite and not negative; others, or nan, were given.")
    choices = int(np.min(np.count_nonzero(weights, axis=-1), initial=weights.shape[-1]))
    if choices < (1 if replacement else num_samples):
        raise DomainError(
            f"{num_samples} sample(s) were asked for, {'with' if replacement else 'without'} "
            f"replacement, from a row in which {choices} weight(s) are positive."
        )
    draw = _with_replacement if replacement else _without_replacement
    with drawing(generator) as numbers:
        chosen = draw(numbers, weights, num_samples)
    return input._uploaded(chosen, int64)


def _with_replacement(numbers: np.random.Generator, weights: Array, count: int) -> Array:
    """Find evenly drawn points on the line along which the weights are laid end to end."""
    rows = weights.reshape(-1, weights.shape[-1])
    ends = np.cumsum(rows / rows.max(axis=-1, keepdims=True), axis=-1)
    points = numbers.random((len(rows), count)) * ends[:, -1:]
    points = np.minimum(points, np.nextafter(ends[:, -1:], 0))  # rounding must not pass the end
    chosen = np.empty(points.shape, np.int64)
    for row in range(len(rows)):
        chosen[row] = np.searchsorted(ends[row], points[row], side="right")
    return chosen.reshape(*weights.shape[:-1], count)


def _without_replacement(numbers: np.random.Generator, weights: Array, count: int) -> Array:
    """Let all categories wait for an exponential time and take the first ones.

    With a rate in proportion to its weight each is the next with the right probability.
    """
    with np.errstate(divide="ignore"):
        times = numbers.standard_exponential(weights.shape) / weights
    first: Array = np.argsort(times, kind="stable")[..., :count]
    return first


def uniform_(
    self: Tensor, from_: float = 0, to: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Store numbers drawn evenly from `from_` (included) to `to` (excluded); return self."""
    check_floating("uniform_", self)
    low, high = as_number("from_", from_), as_number("to", to)
    self._check_in_place()
    return self.copy_(between(generator, self.shape, low, high, self.dtype, self.backend))


def normal_(
    self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Store numbers from the normal distribution, and return self."""
    check_floating("normal_", self)
    mean, std = as_number("mean", mean), as_number("std", std)
    check_deviation(std)
    self._check_in_place()
    return self.copy_(standard_normal(generator, self.shape, self.backend) * std + mean)


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Store ones with probability `p`, a number or a tensor, else zeros; return self."""
    self._check_in_place()
    if isinstance(p, Tensor):
        check_floating("bernoulli_", p)
        common_backend(self, p)
        p = p.detach().expand(self.shape)
    return self.copy_(_outcomes(self, p, generator))


def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Store waiting times, on average `1 / lambd`, from the exponential distribution.

    Raises:
        DomainError: `lambd` is not positive.
    """
    check_floating("exponential_", self)
    lambd = as_number("lambd", lambd)
    if not lambd > 0:
        raise DomainError(f"the rate of a waiting time is positive; {lambd!r} was given.")
    self._check_in_place()
    return self.copy_(waiting_times(generator, self.shape, self.backend) / lambd)


def random_(
    self: Tensor,
    from_: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Store whole numbers drawn evenly, and return self.

    `x.random_(6)` draws from 0 to 5, `x.random_(1, 7)` from 1 to 6, and `x.random_()` from 0 to
    the largest number up to which the element type holds every whole one.

    Raises:
        DomainError: there is no whole number in the range, or one that the type cannot hold.
        TypeError: an end of the range is no integer.
    """
    from_ = None if from_ is None else as_integer("from_", from_)
    to = None if to is None else as_integer("to", to)
    lowest, highest = _whole_range(self.dtype)
    low, high = (0, from_) if to is None else (from_ or 0, to)
    last = highest if high is None else high - 1
    if not lowest <= low <= last <= highest:
        raise DomainError(
            f"random_() draws whole numbers from a lower end to below an upper one, and "
            f"{self.dtype.name} holds {lowest} to {highest}; {low} and {high} were given."
        )
    self._check_in_place()
    return self._filled(whole_values(generator, self.shape, low, last))


def _filled(self: Tensor, values: Any) -> Tensor:
    with np.errstate(over="ignore"):
        uploaded = self._uploaded(np.asarray(values), self.dtype)
    self.copy_(uploaded)
    return self
