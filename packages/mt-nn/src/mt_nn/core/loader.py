"""`DataLoader`: iterate over the batches of a data set.

An epoch starts by drawing a seed. The sampler and each batch draw from generators of their own,
seeded with the seed of the epoch and the number of the batch. So the order and all random numbers
do not depend on the number of workers, and an epoch can be resumed in the middle. `mt_nn.data` adds
workers and resumption.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, Self

from mt_nn.core.dataset import Dataset
from mt_nn.core.extensions import check, extension
from mt_nn.core.samplers import BatchSampler, RandomSampler, SequentialSampler, batch_count, batches
from mt_tensor import Generator
from mt_tensor.core.generator import numbers_of, use_generator

SEED_BITS = 63
END = object()
"""A sentinel for the end of an epoch."""


class DataLoader:
    """Iterate over a data set in batches; every iteration is one epoch.

    The settings are torch's. Workers are threads, so two settings have no effect.

    Args:
        dataset: the data set. If it has a method `__getitems__`, that is called for the samples of
            a batch. An `IterableDataset` is iterated over once per epoch, by a single worker.
        batch_size: the number of samples in a batch; the last one may be smaller. With None,
            samples are not joined into batches.
        shuffle: whether to draw a new order for each epoch.
        sampler: an iterable of sample indices, instead of `shuffle`.
        batch_sampler: an iterable of lists of indices, one per batch; instead of `batch_size`,
            `shuffle`, `sampler` and `drop_last`.
        num_workers: the number of threads that prepare batches; the batches do not depend on it.
        collate_fn: joins a list of samples into a batch, by default `default_collate`. If
            `batch_size` is None, converts a sample, by default with `default_convert`.
        drop_last: whether to drop a last batch that is smaller.
        timeout: how many seconds to wait for a worker's batch; 0 for no limit.
        worker_init_fn: called in each worker with its index when it starts.
        generator: draws the seed of each epoch; by default, the generator that
            `mt_tensor.manual_seed` seeds. The data set, the sampler and `collate_fn` run with a
            default generator of the epoch or the batch.
        prefetch_factor: the number of batches that each worker prepares in advance; 2 if None.
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
        self._seed: int | None = None  # of the current epoch
        self._position = 0  # number of batches yielded in it
        self._generators: list[dict[str, Any]] = []  # generator states at its start
        self._resumes = False  # whether the next iteration continues it

    def __len__(self) -> int:
        """Return the number of batches of an epoch; raise TypeError if it is unknown."""
        if self._is_iterable:
            if self.batch_size is None:
                return len(self.dataset)
            return batch_count(self.dataset, self.batch_size, self.drop_last)
        return len(self._order())

    def __iter__(self) -> Iterator[Any]:
        """Start an epoch, or continue the one restored by `load_state_dict`."""
        if self._resumes and self._seed is not None:
            seed, skipped = self._seed, self._position
        else:
            seed = int(numbers_of(self.generator).integers(2**SEED_BITS))
            skipped = 0
            self._generators = [each.get_state() for each in self.all_generators()]
        self._seed, self._position, self._resumes = seed, skipped, False
        return _Epoch(self, seed, skipped)

    def _items(self, seed: int, skipped: int) -> Iterator[tuple[int, Any]]:
        """Yield the number of each batch, and its samples or their indices.

        This is not a generator function: an error in a sample would end the generator.
        """
        generator = _generator_of(seed, 0)
        with use_generator(generator):
            source = self._source()
        numbers = itertools.count(1)

        def following() -> Any:
            number, item = 0, None
            while number <= skipped and item is not END:
                number = next(numbers)
                with use_generator(generator):
                    item = next(source, END)
            return END if item is END else (number, item)

        return iter(following, END)

    def _source(self) -> Iterator[Any]:
        if not self._is_iterable:
            return iter(self._order())
        samples = iter(self.dataset)
        if self.batch_size is None:
            return samples
        return batches(samples, self.batch_size, self.drop_last)

    def _order(self) -> Any:
        """Return the iterable of indices or of lists of indices."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _make(self, seed: int, numbered: tuple[int, Any]) -> Any:
        """Create a batch from an item of `_items`."""
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
        """Return the generators of the loader and its samplers, without duplicates."""
        inner = getattr(self.batch_sampler, "sampler", None)
        sources = (self, self.sampler, self.batch_sampler, inner)
        generators = (getattr(source, "generator", None) for source in sources)
        return list({id(each): each for each in generators if isinstance(each, Generator)}.values())

    def state_dict(self) -> dict[str, Any]:
        """Return the position in the epoch, as values that JSON and pickle support."""
        return extension("state of a loader")(self)  # type: ignore[no-any-return]

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state dictionary in the next iteration.

        Samples of earlier batches are not read again, except from an `IterableDataset`.
        """
        extension("resumption of a loader")(self, state)


class _Epoch:
    """Iterate over the batches of an epoch after the first `skipped`, and count them.

    After an error in a batch, the next call continues with the following batch, as in torch.
    """

    def __init__(self, loader: DataLoader, seed: int, skipped: int) -> None:
        self._loader, self._seed, self._position = loader, seed, skipped
        self._make: Callable[[Any], Any] = partial(loader._make, seed)
        self._items: Iterator[Any] = loader._items(seed, skipped)
        if loader.num_workers:
            self._items = extension("worker threads")(loader, self._items, self._make)
            self._make = Future.result  # of a future that is done

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        make, item = self._make, self._next_item()
        del self  # the traceback of an error must not keep the workers alive
        try:
            return make(item)
        except StopIteration as error:  # which would end the epoch silently
            raise RuntimeError("DataLoader: dataset or collate_fn raised StopIteration.") from error
        finally:
            del item  # a future, whose error refers to this frame

    def close(self) -> None:
        """End the epoch, and its workers if there are any."""
        items, self._items = self._items, iter(())
        if hasattr(items, "close"):  # that of worker threads
            items.close()

    def _next_item(self) -> Any:
        loader, item = self._loader, next(self._items, END)
        is_last = loader._seed == self._seed  # no later epoch has started
        if item is END:
            if is_last:
                loader._seed, loader._position = None, 0
            raise StopIteration
        self._position += 1
        if is_last:
            loader._position = self._position
        return item


def _generator_of(seed: int, number: int) -> Generator:
    """Return the generator of batch `number`, counted from 1, or of the sampler, number 0."""
    return Generator().manual_seed(number << SEED_BITS | seed)


def takes_batches(dataset: Any) -> bool:
    """Return whether a data set returns a batch for a list of indices."""
    return isinstance(dataset, Dataset) and dataset.takes_batches()
