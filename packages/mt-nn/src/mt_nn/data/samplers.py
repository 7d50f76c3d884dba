"""Samplers that draw from chosen samples, or from some more often than from others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mt_nn.core.samplers import Sampler
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_tensor import Generator, multinomial, tensor
from mt_tensor.extending import check_flags, numbers_of


class SubsetRandomSampler(Sampler):
    """The given numbers in random order, each once."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        """Iterate over the numbers in a new order."""
        order = numbers_of(self.generator).permutation(len(self.indices))
        return (self.indices[i] for i in order.tolist())

    def __len__(self) -> int:
        """Return how many samples an epoch has."""
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Samples at random, each with a probability in proportion to its weight.

    Args:
        weights: one for each sample; they need not sum to one.
        num_samples: how many to draw for an epoch.
        replacement: whether a sample may be drawn more than once.
        generator: where the random numbers come from.

    Raises:
        SettingError: a weight is negative or not finite, too few are positive, or `num_samples` is
            no positive integer.
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        check_flags(replacement=replacement)
        self.num_samples = integer("num_samples", num_samples, 1)
        self.weights = np.array(weights, np.float64)
        self.replacement, self.generator = replacement, generator
        if self.weights.ndim != 1 or not np.all(np.isfinite(self.weights) & (self.weights >= 0)):
            raise SettingError("weights are a row of finite numbers from 0 on; others were given.")
        positive, least = np.count_nonzero(self.weights), 1 if replacement else self.num_samples
        if positive < least:
            raise SettingError(
                f"{self.num_samples} sample(s) were asked for with replacement={replacement}, but "
                f"{positive} weight(s) are positive."
            )

    def __iter__(self) -> Iterator[int]:
        """Iterate over the numbers drawn for one epoch."""
        weights = tensor(self.weights, backend="numpy")
        drawn = multinomial(weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        """Return how many samples an epoch has."""
        return self.num_samples
