"""Data sets that are iterated over, or made of others; and samplers that choose among samples."""

from __future__ import annotations

import bisect
import itertools
import math
import numpy as np
import numpy.typing as npt
from collections.abc import Callable, Iterable, Iterator, Sequence
from mt_nn.core.dataset import Dataset
from mt_nn.core.extensions import extends
from mt_nn.core.loader import takes_batches
from mt_nn.core.samplers import Sampler
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.utils.declared import Declared
from mt_tensor import Generator, multinomial, tensor
from mt_tensor.extending import check_flags, numbers_of
from typing import Any


class IterableDataset(Dataset):
    """Samples that come one after another, such as the lines of a stream; define `__iter__`.

    `__len__` may be defined, too, and returns how many samples an iteration yields.
    """

    is_iterable = True

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the samples, from the first."""
        raise TypeError(f"{type(self).__name__} must define __iter__.")

    def __getitem__(self, index: int) -> Any:
        """Raise TypeError: there is no sample by number."""
        raise TypeError(
            f"{type(self).__name__} has no samples by number, for it is an IterableDataset: "
            "iterate over it."
        )


class TransformedDataset(Declared, Dataset):
    """Another data set's pairs of input and target, with functions applied to them.

    Args:
        dataset: holds pairs.
        transform: called with each input, as those in `mt_nn.data.transforms`; None leaves it.
        target_transform: called with each target; None leaves it.
    """

    dataset: Dataset
    transform: Callable[[Any], Any] | None = None
    target_transform: Callable[[Any], Any] | None = None

    def __len__(self) -> int:
        """Return how many samples there are."""
        return len(self.dataset)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """Return an input and a target."""
        value, target = self.dataset[index]
        if self.transform is not None:
            value = self.transform(value)
        return value, target if self.target_transform is None else self.target_transform(target)


@extends("sums of data sets")
class ConcatDataset(Dataset):
    """The samples of several data sets, one data set after the other.

    Raises:
        SettingError: no data set was given, or one that has no samples by number.
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets or any(isinstance(each, IterableDataset) for each in self.datasets):
            raise SettingError(
                "ConcatDataset takes one or more data sets with samples by number; "
                f"{[type(each).__name__ for each in self.datasets]} were given."
            )
        self.cumulative_sizes = list(itertools.accumulate(len(each) for each in self.datasets))

    def __len__(self) -> int:
        """Return how many samples there are."""
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        """Return a sample; negative numbers count from the end.

        Raises:
            IndexError: there is no sample of that number.
        """
        count = len(self)
        if not -count <= index < count:
            raise IndexError(f"sample {index} of a data set of {count} was asked for.")
        index %= count
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """Some samples of another data set, in the order of `indices`."""

    def __init__(self, dataset: Dataset, indices: Sequence[int] | npt.NDArray[np.int64]) -> None:
        self.dataset = dataset
        self.indices = np.asarray(indices, dtype=np.int64)

    def __len__(self) -> int:
        """Return how many samples there are."""
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        """Return a sample, or several if the data set takes several."""
        chosen = self.indices[index]
        many: Any = chosen if isinstance(chosen, np.ndarray) else int(chosen)
        return self.dataset[many]

    def takes_batches(self) -> bool:
        """Return whether the data set does."""
        return type(self).__getitem__ is Subset.__getitem__ and takes_batches(self.dataset)


def random_split(
    dataset: Dataset, lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset]:
    """Return disjoint random subsets.

    Args:
        dataset: what to split.
        lengths: how many samples each subset gets; or fractions that add up to 1, of which each
            gives a subset its share rounded down, and what is left goes one by one to the first.
        generator: where the random numbers come from; by default what `mt_tensor.manual_seed` sets.

    Raises:
        SettingError: the lengths add up neither to the length of the data set nor to 1.
    """
    counts = _counts(lengths, len(dataset))
    order = numbers_of(generator).permutation(len(dataset))
    return [Subset(dataset, part) for part in np.split(order, np.cumsum(counts)[:-1])]


def _counts(lengths: Sequence[int | float], total: int) -> list[int]:
    """Return how many of `total` samples each subset gets."""
    if all(0 <= share <= 1 for share in lengths) and math.isclose(sum(lengths), 1):
        counts = [math.floor(total * share) for share in lengths]
        for turn in range(total - sum(counts)):
            counts[turn % len(counts)] += 1
        return counts
    if any(length != int(length) or length < 0 for length in lengths) or sum(lengths) != total:
        raise SettingError(
            f"lengths {list(lengths)} must add up to the {total} samples of the data set, or be "
            "fractions that add up to 1."
        )
    return [int(length) for length in lengths]


# --- Samplers -------------------------------------------------------------------------------------


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
