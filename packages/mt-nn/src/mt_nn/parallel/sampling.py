"""Samplers that select each rank's part of the indices or of each batch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

from mt_nn.core.samplers import Sampler
from mt_nn.core.settings import integer
from mt_nn.parallel.world import world
from mt_nn.utils.settings import check
from mt_tensor import Generator
from mt_tensor.extending import check_flags, numbers_of


class DistributedSampler(Sampler):
    """Split the indices of a data set among ranks, in an order that all ranks share, as in torch.

        sampler = DistributedSampler(dataset)
        loader = DataLoader(dataset, batch_size=32, sampler=sampler)
        for epoch in range(10):
            sampler.set_epoch(epoch)

    All ranks get the same number of samples: some are repeated, or some are dropped.

    Args:
        dataset: the data set, of which only the length is used.
        num_replicas: the number of ranks; that of the program if None.
        rank: the index of this rank; its index in the program if None.
        shuffle: whether to use a new order in each epoch; see `set_epoch`.
        seed: the seed of the order, the same on all ranks.
        drop_last: whether to drop remaining samples, instead of repeating the first ones.

    Raises:
        SettingError: the rank is out of range, or a setting is invalid.
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
        self.num_replicas, self.rank = _size_and_rank(num_replicas, rank)
        self.seed, self.epoch = integer("seed", seed, 0), 0

    @property
    def num_samples(self) -> int:
        """The number of samples of an epoch on this rank."""
        count = len(self.dataset)
        return count // self.num_replicas if self.drop_last else -(-count // self.num_replicas)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the indices of one epoch."""
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = Generator().manual_seed(self.seed + self.epoch)
            order = numbers_of(generator).permutation(len(order)).tolist()
        return iter(_part(order, self.num_samples, self.num_replicas, self.rank))

    def __len__(self) -> int:
        """Return the number of samples of an epoch on this rank."""
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Select the order of the next epoch."""
        self.epoch = integer("epoch", epoch, 0)


class SharedBatches(Sampler):
    """Split each batch of a sampler, which yields the same batches on all ranks.

    Steps therefore use the same samples for any number of ranks. If a batch cannot be divided
    evenly, its first samples are repeated.

        batches = SharedBatches(BatchSampler(RandomSampler(dataset), 128, drop_last=False))
        loader = DataLoader(dataset, batch_sampler=batches, generator=Generator().manual_seed(0))

    Args:
        batch_sampler: yields lists of indices.
        num_replicas: the number of ranks; that of the program if None.
        rank: the index of this rank; its index in the program if None.

    Raises:
        SettingError: the rank is out of range.
    """

    def __init__(
        self,
        batch_sampler: Iterable[Sequence[int]],
        num_replicas: int | None = None,
        rank: int | None = None,
    ) -> None:
        self.batch_sampler = batch_sampler
        self.num_replicas, self.rank = _size_and_rank(num_replicas, rank)

    @property
    def sampler(self) -> Any:
        """The inner sampler, whose generator a loader saves."""
        return getattr(self.batch_sampler, "sampler", None)

    def __iter__(self) -> Iterator[list[int]]:
        """Iterate over this rank's parts of the batches of one epoch."""
        for batch in self.batch_sampler:
            count = -(-len(batch) // self.num_replicas)
            yield _part(batch, count, self.num_replicas, self.rank)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return len(self.batch_sampler)  # type: ignore[arg-type] # TypeError if it has no length


def _size_and_rank(num_replicas: int | None, rank: int | None) -> tuple[int, int]:
    """Return the number of ranks and the index of this rank, by default those of the program."""
    size = world().size if num_replicas is None else integer("num_replicas", num_replicas, 1)
    index = world().rank if rank is None else integer("rank", rank, 0)
    check("rank", index, index < size, f"less than num_replicas={size}")
    return size, index


def _part(indices: Sequence[int], count: int, size: int, rank: int) -> list[int]:
    """Return `count` indices for a rank; if there are too few, repeat them from the first."""
    return list(itertools.islice(itertools.cycle(indices), rank, count * size, size))
