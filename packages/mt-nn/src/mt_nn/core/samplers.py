"""Samplers: the order in which a loader reads samples, and how it groups them into batches.

A sampler yields indices of samples. A loader iterates over it once per epoch. A sampler without a
generator draws from the current generator, which in a loader is the generator of the epoch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sized
from typing import Any

from mt_nn.core.errors import SettingError
from mt_nn.core.settings import integer
from mt_tensor import Generator
from mt_tensor.core.arguments import check_flags
from mt_tensor.core.generator import numbers_of


class Sampler:
    """Base class of iterables of sample indices, or of lists of them."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the indices of one epoch."""
        raise TypeError(f"{type(self).__name__} must define __iter__.")


class SequentialSampler(Sampler):
    """Yield all indices in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        """Iterate over the indices from 0."""
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        """Return the number of samples of an epoch."""
        return len(self.data_source)


class RandomSampler(Sampler):
    """Yield indices in random order.

    Args:
        data_source: the data set, or anything with a length.
        replacement: whether to draw with replacement.
        num_samples: the number of indices per epoch; the length of the data if None. A larger
            number without replacement repeats the data in another order.
        generator: the random number generator; the current one if None.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        check_flags(replacement=replacement)
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._requested = None if num_samples is None else integer("num_samples", num_samples, 1)
        if self.num_samples and not len(data_source):
            raise SettingError("RandomSampler cannot draw samples from an empty data set.")

    @property
    def num_samples(self) -> int:
        """The number of samples of an epoch."""
        return len(self.data_source) if self._requested is None else self._requested

    def __iter__(self) -> Iterator[int]:
        """Iterate over the indices drawn for one epoch."""
        numbers, count = numbers_of(self.generator), len(self.data_source)
        if self.replacement:
            yield from numbers.integers(count, size=self.num_samples).tolist() if count else ()
            return
        remaining = self.num_samples
        while remaining and count:
            drawn = numbers.permutation(count)[:remaining].tolist()
            yield from drawn
            remaining -= len(drawn)

    def __len__(self) -> int:
        """Return the number of samples of an epoch."""
        return self.num_samples


class BatchSampler(Sampler):
    """Yield lists of indices, one per batch.

    Args:
        sampler: the order of the samples.
        batch_size: the number of samples in a batch.
        drop_last: whether to drop a last batch that is smaller.
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        check_flags(drop_last=drop_last)
        self.sampler, self.drop_last = sampler, drop_last
        self.batch_size = integer("batch_size", batch_size, 1)

    def __iter__(self) -> Iterator[list[int]]:
        """Iterate over the batches of one epoch."""
        return batches(iter(self.sampler), self.batch_size, self.drop_last)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return batch_count(self.sampler, self.batch_size, self.drop_last)


def batches(samples: Iterator[Any], batch_size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Yield lists of `batch_size` samples; after an error in a sample, iteration can continue."""

    def following() -> list[Any]:
        batch = list(itertools.islice(samples, batch_size))
        return [] if drop_last and len(batch) < batch_size else batch

    return iter(following, [])


def batch_count(samples: Any, batch_size: int, drop_last: bool) -> int:
    """Return the number of lists that `batches` yields."""
    return len(samples) // batch_size if drop_last else -(-len(samples) // batch_size)
