"""What every distribution is: a batch of independent ones, with numbers drawn from each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mt_nn.errors import InputError, SettingError
from mt_nn.utils.settings import check_flags
from mt_tensor import Tensor, finfo, full, no_grad
from mt_tensor.extending import Shape, as_shape


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
        value = like.new_full((), number) if isinstance(like, Tensor) else full((), number)
    if not value.dtype.is_floating_point:
        raise InputError(f"{name} holds floating-point numbers; {value.dtype.name} was given.")
    found: Tensor = value
    return found


def inside(probs: Tensor) -> Tensor:
    """Return probabilities that are neither 0 nor 1, so that their logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(eps, 1.0 - eps)
