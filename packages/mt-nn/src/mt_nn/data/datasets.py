"""Iterable data sets, data sets derived from others, and more samplers."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mt_nn.core.dataset import Dataset
from mt_nn.core.extensions import extends
from mt_nn.core.loader import takes_batches
from mt_nn.core.samplers import Sampler
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.utils.declared import Declared
from mt_tensor import Generator, multinomial, tensor
from mt_tensor.extending import check_flags, numbers_of


class IterableDataset(Dataset):
    """Base class of data sets that can only be iterated over, such as the lines of a stream.

    A subclass defines `__iter__`, and optionally `__len__`, the number of samples per iteration.
    """

    is_iterable = True
    __repr__ = object.__repr__  # it may have no length

    def __iter__(self) -> Iterator[Any]:
        """Iterate over all samples."""
        raise TypeError(f"{type(self).__name__} must define __iter__.")

    def __getitem__(self, index: int) -> Any:
        """Raise TypeError: samples have no index."""
        raise TypeError(
            f"{type(self).__name__} is an IterableDataset, whose samples have no index: iterate "
            "over it."
        )


class TransformedDataset(Declared, Dataset):
    """Apply functions to the inputs and targets of another data set.

    Args:
        dataset: a data set of pairs of an input and a target.
        transform: applied to each input, such as one of `mt_nn.data.transforms`; None to change
            nothing.
        target_transform: applied to each target; None to change nothing.
    """

    dataset: Dataset
    transform: Callable[[Any], Any] | None = None
    target_transform: Callable[[Any], Any] | None = None

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.dataset)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """Return an input and a target."""
        value, target = self.dataset[index]
        if self.transform is not None:
            value = self.transform(value)
        return value, target if self.target_transform is None else self.target_transform(target)


@extends("sums of data sets")
class ConcatDataset(Dataset):
    """Concatenate several data sets.

    Args:
        datasets: the data sets, at least one.

    Raises:
        SettingError: no data set, or an `IterableDataset`, was given.
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets or any(isinstance(each, IterableDataset) for each in self.datasets):
            raise SettingError(
                "ConcatDataset takes one or more data sets, and no IterableDataset; "
                f"{[type(each).__name__ for each in self.datasets]} were given."
            )
        self.cumulative_sizes = list(itertools.accumulate(len(each) for each in self.datasets))

    def __len__(self) -> int:
        """Return the number of samples."""
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        """Return a sample; negative indices count from the end.

        Raises:
            IndexError: the index is out of range.
        """
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"index {index} is out of range for a data set of {count} samples.")
        index %= count
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """Select samples of another data set.

    Args:
        dataset: the data set.
        indices: the indices of the samples, in their new order.
    """

    def __init__(self, dataset: Dataset, indices: Sequence[int] | npt.NDArray[np.int64]) -> None:
        self.dataset = dataset
        self.indices = np.asarray(indices, dtype=np.int64)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        """Return a sample, or several for a list of indices, if the data set supports that."""
        chosen = self.indices[index]
        inner: Any = chosen if isinstance(chosen, np.ndarray) else int(chosen)
        return self.dataset[inner]

    def takes_batches(self) -> bool:
        """Return whether the data set supports lists of indices."""
        return type(self).__getitem__ is Subset.__getitem__ and takes_batches(self.dataset)


def random_split(
    dataset: Dataset, lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset]:
    """Split a data set into disjoint random subsets.

    Args:
        dataset: the data set.
        lengths: the sizes of the subsets; or fractions that add up to 1. Fractional sizes are
            rounded down, and the remaining samples are distributed among the first subsets.
        generator: the random number generator; the current one if None.

    Raises:
        SettingError: the lengths add up neither to the length of the data set nor to 1.
    """
    counts = _counts(lengths, len(dataset))
    order = numbers_of(generator).permutation(len(dataset))
    return [Subset(dataset, part) for part in np.split(order, np.cumsum(counts)[:-1])]


def _counts(lengths: Sequence[int | float], total: int) -> list[int]:
    """Return the sizes of the subsets of `total` samples."""
    if all(0 <= fraction <= 1 for fraction in lengths) and math.isclose(sum(lengths), 1):
        counts = [math.floor(total * fraction) for fraction in lengths]
        for remaining in range(total - sum(counts)):
            counts[remaining % len(counts)] += 1
        return counts
    if any(length != int(length) or length < 0 for length in lengths) or sum(lengths) != total:
        raise SettingError(
            f"random_split(): lengths {list(lengths)} must add up to the {total} samples of the "
            "data set, or be fractions that add up to 1."
        )
    return [int(length) for length in lengths]


# --- Samplers -------------------------------------------------------------------------------------


class SubsetRandomSampler(Sampler):
    """Yield the given indices in random order.

    Args:
        indices: the indices.
        generator: the random number generator; the current one if None.
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        """Iterate over the indices in a new order."""
        order = numbers_of(self.generator).permutation(len(self.indices))
        return (self.indices[i] for i in order.tolist())

    def __len__(self) -> int:
        """Return the number of samples of an epoch."""
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Draw indices with probabilities proportional to weights.

    Args:
        weights: one weight per sample; they need not sum to 1.
        num_samples: the number of indices per epoch.
        replacement: whether to draw with replacement.
        generator: the random number generator; the current one if None.

    Raises:
        SettingError: a weight is negative or not finite, too few are positive, or `num_samples` is
            not a positive integer.
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
            raise SettingError(
                "WeightedRandomSampler takes a 1-D sequence of finite, non-negative weights."
            )
        positive, least = np.count_nonzero(self.weights), 1 if replacement else self.num_samples
        if positive < least:
            raise SettingError(
                f"WeightedRandomSampler cannot draw {self.num_samples} sample(s) with "
                f"replacement={replacement}: only {positive} weight(s) are positive."
            )

    def __iter__(self) -> Iterator[int]:
        """Iterate over the indices drawn for one epoch."""
        weights = tensor(self.weights, backend="numpy")
        drawn = multinomial(weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        """Return the number of samples of an epoch."""
        return self.num_samples
