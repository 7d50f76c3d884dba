"""A distribution of several independent values, as one event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from mt_nn.distributions.constraints import Constraint
from mt_nn.distributions.distribution import Distribution
from mt_nn.errors import SettingError
from mt_tensor import Tensor
from mt_tensor.extending import Shape, as_integer


def total(d: Any, x: Tensor) -> Any:
    """Sum over the dimensions of the batch that are part of the event."""
    count = d.reinterpreted_batch_ndims
    return x.sum(tuple(range(-count, 0))) if count else x


def _draw(d: Any, shape: Shape) -> Any:
    samples = shape[: len(shape) - len(d.batch_shape) - len(d.event_shape)]
    return d.base_dist._drawn(samples)


class Independent(Distribution):
    """A distribution whose last batch dimensions are part of the event.

    The density of an event is the product of the densities of its elements.

    Args:
        base_distribution: the distribution of the elements.
        reinterpreted_batch_ndims: the number of these dimensions.
        validate_args: has no effect; the distribution of the elements checks values.

    Raises:
        SettingError: the batch has fewer dimensions.
    """

    base_dist: Distribution
    formulas: ClassVar = {
        "sample": _draw,
        "mean": lambda d: d.base_dist.mean,
        "mode": lambda d: d.base_dist.mode,
        "variance": lambda d: d.base_dist.variance,
        "log_prob": lambda d, x: total(d, d.base_dist.log_prob(x)),
        "entropy": lambda d: total(d, d.base_dist.entropy()),
    }

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        count = as_integer("reinterpreted_batch_ndims", reinterpreted_batch_ndims, minimum=0)
        if count > len(batch):
            raise SettingError(
                f"Independent takes at most the {len(batch)} dimensions of the batch as "
                f"reinterpreted_batch_ndims; got {count}."
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        self._validates = False
        self.batch_shape = batch[: len(batch) - count]
        self.event_shape = batch[len(batch) - count :] + base_distribution.event_shape
        self.has_rsample = base_distribution.has_rsample

    def __repr__(self) -> str:
        """Return the class, the base distribution and the number of dimensions."""
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"

    @property
    def support(self) -> Constraint:
        """The constraint on the elements of events."""
        return self.base_dist.support

    def expand(self, batch_shape: Sequence[int]) -> Self:
        """Return the distribution with a larger batch, whose parameters are views."""
        within = self.base_dist.batch_shape[len(self.batch_shape) :]
        base = self.base_dist.expand((*batch_shape, *within))
        return type(self)(base, self.reinterpreted_batch_ndims)
