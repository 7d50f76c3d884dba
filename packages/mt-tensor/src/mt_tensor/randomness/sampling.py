"""Sample with probabilities or weights from tensors, and fill tensors with random numbers in place.

Bernoulli and floating-point numbers are drawn on the backend of the tensor; see `continuous.py`.
Categories and integers are drawn on the host, since the number of bits that they use depends on
these bits. Probabilities are also checked on the host.
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
from mt_tensor.randomness.continuous import standard_exponential, standard_normal, uniform
from mt_tensor.recording.one_call import as_one_call


def random_integers(generator: Generator | None, shape: Shape, low: int, high: int) -> Array:
    """Return integers from `low` to `high`, inclusive; as uint64 if they exceed int64."""
    dtype = np.uint64 if high >= 1 << 63 else np.int64
    with drawing(generator) as numbers:
        return np.asarray(numbers.integers(low, high, shape, dtype, endpoint=True))


@as_one_call
def check_deviation(name: str, std: Any) -> None:
    """Raise DomainError if a standard deviation, a number or a tensor, is negative or nan."""
    if not np.all(np.asarray(std._numbers() if isinstance(std, Tensor) else std) >= 0):
        raise DomainError(
            f"{name}() takes standard deviations that are not negative; {std!r} was given."
        )


def _bernoulli_trials(name: str, like: Tensor, p: Any, generator: Generator | None) -> Tensor:
    """Return bools in the shape of `like` that are True with probability `p`.

    Raises:
        DomainError: a probability is not between 0 and 1.
    """
    probability = p if isinstance(p, Tensor) else as_number(f"{name}(): p", p)
    _check_probabilities(name, probability)
    drawn = unit(generator, like.shape, float64, like.backend)
    return elementwise("lt", drawn, probability)


@as_one_call
def _check_probabilities(name: str, p: Any) -> None:
    """Raise DomainError unless a number, or each element of a tensor, is a probability."""
    values = np.asarray(p._numbers() if isinstance(p, Tensor) else p)
    valid = (values >= 0) & (values <= 1)
    if not np.all(valid):
        raise DomainError(
            f"{name}() takes probabilities between 0 and 1; {values[~valid][0]:g} was given."
        )


def _integer_range(dtype: DType) -> tuple[int, int]:
    """Return the bounds of the integers that a dtype represents without gaps."""
    if dtype.is_floating_point:
        highest = int(2 / finfo(dtype).eps)
        return -highest, highest
    return dtype.lowest, dtype.highest


# --- Bernoulli trials and weighted choices ------------------------------------------------------


@validate_call
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Return zeros and ones; each is 1 with the probability at its position in `input`.

    Args:
        input: probabilities, of any shape. The result has the same shape, dtype and backend.
        p: a single probability to use instead of `input`.
        generator: the generator; the default one if None.

    Raises:
        DomainError: a probability is not between 0 and 1.
        DTypeError: `input` is not floating-point, and `p` was not given.
    """
    if p is None:
        check_floating("bernoulli", input)
    probabilities = input.detach() if p is None else p
    return cast(_bernoulli_trials("bernoulli", input, probabilities, generator), input.dtype)


@validate_call
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Return category indices drawn with probabilities proportional to weights.

    Args:
        input: the weights, floating-point, of shape (categories,) or (rows, categories); they need
            not sum to 1.
        num_samples: the number of indices to draw for each row.
        replacement: whether an index may be drawn more than once.
        generator: the generator; the default one if None.

    Returns:
        int64, shape (num_samples,) or (rows, num_samples).

    Raises:
        DTypeError: `input` is not floating-point.
        ShapeError: `input` has another number of dimensions or no categories, or the result would
            be too large.
        DomainError: `num_samples` is not positive; a weight is negative, infinite or nan; or a row
            has too few positive weights: none, or fewer than `num_samples` without replacement.
        TypeError: `num_samples` is not an integer.
    """
    check_floating("multinomial", input)
    num_samples = as_integer("multinomial(): num_samples", num_samples, minimum=1)
    if input.ndim not in (1, 2) or input.shape[-1] == 0:
        raise ShapeError(
            "multinomial() takes weights of shape (categories,) or (rows, categories) with at "
            f"least one category; {input.shape} was given."
        )
    check_addressable((*input.shape[:-1], num_samples))
    weights = np.asarray(input._numbers(), np.float64)
    valid = np.isfinite(weights) & (weights >= 0)
    if not np.all(valid):
        raise DomainError(
            f"multinomial() takes finite, non-negative weights; {weights[~valid][0]:g} was given."
        )
    choices = int(np.min(np.count_nonzero(weights, axis=-1), initial=weights.shape[-1]))
    if choices < (1 if replacement else num_samples):
        raise DomainError(
            f"multinomial() cannot draw {num_samples} sample(s) "
            f"{'with' if replacement else 'without'} replacement from a row with {choices} "
            "positive weight(s)."
        )
    draw = _with_replacement if replacement else _without_replacement
    with drawing(generator) as numbers:
        chosen = draw(numbers, weights, num_samples)
    return input._uploaded(chosen, int64)


def _with_replacement(numbers: np.random.Generator, weights: Array, count: int) -> Array:
    """Draw by inversion: search for uniform numbers in the cumulative weights."""
    rows = weights.reshape(-1, weights.shape[-1])
    ends = np.cumsum(rows / rows.max(axis=-1, keepdims=True), axis=-1)
    points = numbers.random((len(rows), count)) * ends[:, -1:]
    points = np.minimum(points, np.nextafter(ends[:, -1:], 0))  # in case of rounding up
    chosen = np.empty(points.shape, np.int64)
    for row in range(len(rows)):
        chosen[row] = np.searchsorted(ends[row], points[row], side="right")
    return chosen.reshape(*weights.shape[:-1], count)


def _without_replacement(numbers: np.random.Generator, weights: Array, count: int) -> Array:
    """Draw the categories with the shortest exponential waiting times.

    With rates proportional to the weights, each category is next with the right probability.
    """
    with np.errstate(divide="ignore"):
        times = numbers.standard_exponential(weights.shape) / weights
    return np.argsort(times, kind="stable")[..., :count]


def uniform_(
    self: Tensor, from_: float = 0, to: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with random numbers, uniform in [from_, to), and return self.

    Raises:
        DTypeError: the tensor is not floating-point.
        DomainError: `from_` is greater than `to`, or the range is not finite.
        InPlaceError: this tensor is a leaf that requires grad, or elements of it share memory.
    """
    check_floating("uniform_", self)
    low, high = as_number("uniform_(): from_", from_), as_number("uniform_(): to", to)
    self._check_in_place()
    return self.copy_(uniform(generator, self.shape, low, high, self.dtype, self.backend))


def normal_(
    self: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers from a normal distribution, and return self.

    Args:
        self: a floating-point tensor.
        mean: the mean.
        std: the standard deviation.
        generator: the generator; the default one if None.

    Raises:
        DTypeError: the tensor is not floating-point.
        DomainError: `std` is negative.
        InPlaceError: this tensor is a leaf that requires grad, or elements of it share memory.
    """
    check_floating("normal_", self)
    mean, std = as_number("normal_(): mean", mean), as_number("normal_(): std", std)
    check_deviation("normal_", std)
    self._check_in_place()
    return self.copy_(standard_normal(generator, self.shape, self.backend) * std + mean)


def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones with probability `p`, a number or a tensor, else zeros; return self.

    Raises:
        DomainError: a probability is not between 0 and 1.
        DTypeError: `p` is a tensor that is not floating-point.
        ShapeError: `p` is a tensor that does not broadcast to this shape.
        InPlaceError: this tensor is a leaf that requires grad, or elements of it share memory.
    """
    self._check_in_place()
    if isinstance(p, Tensor):
        check_floating("bernoulli_", p)
        common_backend(self, p)
        p = p.detach().expand(self.shape)
    return self.copy_(_bernoulli_trials("bernoulli_", self, p, generator))


def exponential_(self: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from the exponential distribution of rate `lambd`, and return self.

    Raises:
        DTypeError: the tensor is not floating-point.
        DomainError: `lambd` is not positive.
        InPlaceError: this tensor is a leaf that requires grad, or elements of it share memory.
    """
    check_floating("exponential_", self)
    lambd = as_number("exponential_(): lambd", lambd)
    if not lambd > 0:
        raise DomainError(f"the lambd of exponential_() must be positive; {lambd!r} was given.")
    self._check_in_place()
    return self.copy_(standard_exponential(generator, self.shape, self.backend) / lambd)


def random_(
    self: Tensor,
    from_: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with uniform integers, and return self.

    `x.random_(6)` draws from 0 to 5, `x.random_(1, 7)` from 1 to 6, and `x.random_()` from 0 to
    the largest integer up to which the dtype represents all integers.

    Raises:
        DomainError: the range is empty, or exceeds that of the dtype.
        TypeError: a bound is not an integer.
        InPlaceError: this tensor is a leaf that requires grad, or elements of it share memory.
    """
    from_ = None if from_ is None else as_integer("random_(): from_", from_)
    to = None if to is None else as_integer("random_(): to", to)
    lowest, highest = _integer_range(self.dtype)
    low, high = (0, from_) if to is None else (from_ or 0, to)
    last = highest if high is None else high - 1
    if not lowest <= low <= last <= highest:
        raise DomainError(
            f"random_() of {self.dtype.name} needs from_ < to, both from {lowest} to "
            f"{highest + 1}; {low} and {high} were given."
        )
    self._check_in_place()
    with np.errstate(over="ignore"):
        values = self._uploaded(random_integers(generator, self.shape, low, last), self.dtype)
    return self.copy_(values)
