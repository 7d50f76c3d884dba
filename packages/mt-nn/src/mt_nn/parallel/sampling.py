"""Each rank's share of the data: of samples by number, of batches, and of streams."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

from mt_nn.core.samplers import Sampler
from mt_nn.core.settings import integer
from mt_nn.data.datasets import IterableDataset
from mt_nn.errors import SettingError
from mt_nn.parallel.world import world
from mt_tensor import Generator
from mt_tensor.extending import check_flags, numbers_of


class DistributedSampler(Sampler):
    """Every so manieth sample, in an order that all ranks draw alike; torch's.

        sampler = DistributedSampler(dataset)
        loader = DataLoader(dataset, batch_size=32, sampler=sampler)
        for epoch in range(10):
            sampler.set_epoch(epoch)

    All ranks get the same number of samples: some are seen twice, or some not at all.

    Args:
        dataset: what is drawn from; only its length is asked for.
        num_replicas: how many ranks there are; those of the program if None.
        rank: which one this is; likewise.
        shuffle: whether the order is a new one for each epoch that `set_epoch` is told.
        seed: what that order depends on beside the epoch, the same on all ranks.
        drop_last: whether samples that are left over are left out, instead of repeating the first.

    Raises:
        SettingError: there is no such rank, or an invalid setting.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        check_flags(shuffle=shuffle, drop_last=drop_last)
        self.dataset, self.shuffle, self.drop_last = dataset, shuffle, drop_last
        self.num_replicas, self.rank = _place(num_replicas, rank)
        self.seed, self.epoch = integer("seed", seed, 0), 0

    @property
    def num_samples(self) -> int:
        """How many samples an epoch has for this rank."""
        count = len(self.dataset)
        return count // self.num_replicas if self.drop_last else -(-count // self.num_replicas)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the numbers of one epoch."""
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = numbers_of(generator).permutation(len(order)).tolist()
        return iter(_share(order, self.num_samples, self.num_replicas, self.rank))

    def __len__(self) -> int:
        """Return how many samples an epoch has for this rank."""
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch, before it begins."""
        self.epoch = integer("epoch", epoch, 0)


class SharedBatches(Sampler):
    """This rank's share of each batch of a sampler, which all ranks draw alike.

    However many ranks there are, a step sees the samples that it would see with one. A batch that
    cannot be divided evenly repeats its first samples.

        batches = SharedBatches(BatchSampler(RandomSampler(dataset), 128, drop_last=False))
        loader = DataLoader(dataset, batch_sampler=batches, generator=Generator().manual_seed(0))

    Args:
        batch_sampler: yields lists of numbers.
        num_replicas: how many ranks there are; those of the program if None.
        rank: which one this is; likewise.

    Raises:
        SettingError: there is no such rank.
    """

    def __init__(
        self,
        batch_sampler: Iterable[Sequence[int]],
        num_replicas: int | None = None,
        rank: int | None = None,
    ) -> None:
        self.batch_sampler = batch_sampler
        self.num_replicas, self.rank = _place(num_replicas, rank)

    @property
    def sampler(self) -> Any:
        """What orders the samples, for a loader that keeps its generator."""
        return getattr(self.batch_sampler, "sampler", None)

    def __iter__(self) -> Iterator[list[int]]:
        """Iterate over the shares of one epoch."""
        for batch in self.batch_sampler:
            count = -(-len(batch) // self.num_replicas)
            yield _share(batch, count, self.num_replicas, self.rank)

    def __len__(self) -> int:
        """Return how many batches an epoch has."""
        return len(self.batch_sampler)  # type: ignore[arg-type] # or TypeError, as of any other


class SharedStream(IterableDataset):
    """Every so manieth sample of a stream, which every rank reads.

    What is left over at the end is left out, so that all ranks get the same number of samples.

    Args:
        dataset: the stream, the same on all ranks.
        num_replicas: how many ranks there are; those of the program if None.
        rank: which one this is; likewise.

    Raises:
        SettingError: there is no such rank.
    """

    def __init__(
        self, dataset: IterableDataset, num_replicas: int | None = None, rank: int | None = None
    ) -> None:
        self.dataset = dataset
        self.num_replicas, self.rank = _place(num_replicas, rank)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over this rank's samples."""
        groups = zip(*[iter(self.dataset)] * self.num_replicas, strict=False)
        return (group[self.rank] for group in groups)

    def __len__(self) -> int:
        """Return how many samples an iteration yields, if the stream says how many it has."""
        return len(self.dataset) // self.num_replicas


def _place(num_replicas: int | None, rank: int | None) -> tuple[int, int]:
    """Return how many ranks there are, and which one this is."""
    size = world().size if num_replicas is None else integer("num_replicas", num_replicas, 1)
    own = world().rank if rank is None else integer("rank", rank, 0)
    if own >= size:
        raise SettingError(f"there is no rank {own} of {size}: ranks are counted from 0.")
    return size, own


def _share(numbers: Sequence[int], count: int, size: int, rank: int) -> list[int]:
    """Return a rank's `count` of some numbers, which are repeated from the first if too few."""
    return list(itertools.islice(itertools.cycle(numbers), rank, count * size, size))
