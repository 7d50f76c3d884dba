"""`DataLoader`: batches of a data set, epoch by epoch.

An epoch begins by drawing one seed. The sampler, and each batch by its number, draw from generators
that begin at that seed. So the order and all random numbers are the same for any number of workers,
and an epoch can be resumed in its middle. `mt_nn.data` adds workers and resumption.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mt_nn.core.dataset import Dataset
from mt_nn.core.extensions import check, extension
from mt_nn.core.samplers import BatchSampler, RandomSampler, SequentialSampler, batch_count, batches
from mt_tensor import Generator
from mt_tensor.core.generator import numbers_of, use_generator

SEED_BITS = 63
END = object()
"""Follows the last batch of an epoch."""


class DataLoader:
    """Iterate over a data set in batches; every iteration is one epoch.

    The settings are torch's. Workers are threads, so that two settings have no effect.

        >>> from mt_nn.core.dataset import TensorDataset
        >>> from mt_tensor import tensor
        >>> data = TensorDataset(tensor([0, 1, 2, 3, 4]))
        >>> [batch[0].tolist() for batch in DataLoader(data, batch_size=2)]
        [[0, 1], [2, 3], [4]]

    Args:
        dataset: the samples. A method `__getitems__` returns the list of samples of a batch. An
            `IterableDataset` is iterated over once an epoch, by one worker if there are any.
        batch_size: the number of samples in a batch; the last one may be smaller. With None samples
            come one by one, not joined.
        shuffle: whether to draw a new order for each epoch.
        sampler: numbers of samples in another order, instead of `shuffle`.
        batch_sampler: lists of numbers, one for each batch; instead of `batch_size`, `shuffle`,
            `sampler` and `drop_last`.
        num_workers: the number of threads that prepare batches; the batches do not depend on it.
        collate_fn: joins a list of samples into a batch; `default_collate` if None. Where
            `batch_size` is None it gets each sample; then `default_convert` if None.
        drop_last: whether to leave out a last batch that is smaller.
        timeout: how many seconds to wait for a worker's batch; 0 for no limit.
        worker_init_fn: called with its number, from 0, in each worker when it begins.
        generator: the source of the seed of an epoch; by default the one that
            `mt_tensor.manual_seed` sets. Inside data set, sampler and `collate_fn` the default
            generator is one that belongs to the epoch, or to the batch.
        prefetch_factor: how many batches each worker is ahead; 2 if None.
        pin_memory, persistent_workers: have no effect.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        *,
        generator: Generator | None = None,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        check("settings of a loader", locals())
        self.dataset, self.generator, self.drop_last = dataset, generator, drop_last
        self.num_workers, self.timeout = num_workers, timeout
        self.worker_init_fn = worker_init_fn
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self.batch_size = None if batch_sampler is not None else batch_size
        self.collate_fn = collate_fn
        self._is_iterable = getattr(dataset, "is_iterable", False)
        if not self._is_iterable and batch_sampler is None:
            if sampler is None:
                sampler = RandomSampler(dataset) if shuffle else SequentialSampler(dataset)
            if batch_size is not None:
                batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self._seed: int | None = None  # of the epoch in progress
        self._position = 0  # the number of its batches that have been yielded
        self._generators: list[dict[str, Any]] = []  # their states when it began
        self._resumes = False  # whether the next iteration continues it

    def __len__(self) -> int:
        """Return the number of batches of an epoch; a TypeError if it is unknown."""
        if self._is_iterable:
            if self.batch_size is None:
                return len(self.dataset)
            return batch_count(self.dataset, self.batch_size, self.drop_last)
        return len(self._order())

    def __iter__(self) -> Iterator[Any]:
        """Begin an epoch, or continue the one of `load_state_dict`."""
        if self._resumes and self._seed is not None:
            seed, skipped = self._seed, self._position
        else:
            seed = int(numbers_of(self.generator).integers(2**SEED_BITS))
            skipped = 0
            self._generators = [each.get_state() for each in self.all_generators()]
        self._seed, self._position, self._resumes = seed, skipped, False
        return self._epoch(seed, skipped)

    def _epoch(self, seed: int, skipped: int) -> Iterator[Any]:
        """Yield the batches of an epoch except the first ones, and count them."""
        items, make = self._items(seed, skipped), partial(self._make, seed)
        position = skipped
        if self.num_workers:
            made = extension("worker threads")(self, items, make)
        else:
            made = (make(item) for item in items)
        for batch in made:
            position += 1
            if self._seed == seed:  # and no later epoch has begun
                self._position = position
            yield batch
        if self._seed == seed:
            self._seed, self._position = None, 0

    def _items(self, seed: int, skipped: int) -> Iterator[tuple[int, Any]]:
        """Yield the number of each batch, and its samples or their numbers."""
        generator = _generator_of(seed, 0)
        with use_generator(generator):
            source = self._source()
        for number in itertools.count(1):
            with use_generator(generator):
                item = next(source, END)
            if item is END:
                return
            if number > skipped:
                yield number, item

    def _source(self) -> Iterator[Any]:
        if not self._is_iterable:
            return iter(self._order())
        samples = iter(self.dataset)
        if self.batch_size is None:
            return samples
        return batches(samples, self.batch_size, self.drop_last)

    def _order(self) -> Any:
        """Return the source of lists of numbers, or of numbers."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _make(self, seed: int, numbered: tuple[int, Any]) -> Any:
        """Return a batch; `numbered` comes from `_items`."""
        number, item = numbered
        with use_generator(_generator_of(seed, number)):
            if self._is_iterable:
                joins, samples = self.batch_size is not None, item
            else:
                joins = self.batch_sampler is not None
                if joins and self.collate_fn is None and takes_batches(self.dataset):
                    return self.dataset[item]
                samples = self._samples(item) if joins else self.dataset[item]
            if self.collate_fn is not None:
                return self.collate_fn(samples)
            convert = extension("samples of a batch" if joins else "a sample")
            return convert(samples)

    def _samples(self, numbers: Sequence[int]) -> list[Any]:
        if not hasattr(self.dataset, "__getitems__"):
            return [self.dataset[number] for number in numbers]
        samples: list[Any] = self.dataset.__getitems__(numbers)
        check("number of samples", self.dataset, samples, numbers)
        return samples

    def all_generators(self) -> list[Generator]:
        """Return the generators of the loader and of its samplers, each once."""
        inner = getattr(self.batch_sampler, "sampler", None)
        holders = (self, self.sampler, self.batch_sampler, inner)
        generators = (getattr(holder, "generator", None) for holder in holders)
        return list({id(each): each for each in generators if isinstance(each, Generator)}.values())

    def state_dict(self) -> dict[str, Any]:
        """Return the position in the epoch, as values that JSON and pickle can hold."""
        return extension("state of a loader")(self)  # type: ignore[no-any-return]

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next iteration continue where `state_dict` was called.

        The samples of the batches before are not read again, except those of an `IterableDataset`.
        """
        extension("resumption of a loader")(self, state)


def _generator_of(seed: int, number: int) -> Generator:
    """Return the generator of a batch, from 1, or that of the sampler, 0."""
    return Generator().manual_seed(number << SEED_BITS | seed)


def takes_batches(dataset: Any) -> bool:
    """Return whether a data set returns a batch for a list of numbers."""
    return isinstance(dataset, Dataset) and dataset.takes_batches()
