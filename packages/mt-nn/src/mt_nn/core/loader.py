"""`DataLoader`: batches of a data set, epoch by epoch.

Here meet the files above: a sampler's numbers, a data set's samples, joined, by workers if there
are any. An epoch begins by drawing one seed. The sampler, and each batch by its number, draw from
generators that begin at that seed, whoever makes the batch and whatever is computed meanwhile. So
the order and all random numbers are the same for any number of workers, and an epoch can be taken
up again in its middle.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from mt_nn.core.collate import default_collate, default_convert
from mt_nn.core.dataset import (
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    TransformedDataset,
    takes_batches,
)
from mt_nn.core.errors import SettingError
from mt_nn.core.samplers import BatchSampler, RandomSampler, SequentialSampler, batch_count, batches
from mt_nn.core.settings import integer
from mt_nn.core.workers import END, prefetch
from mt_tensor import Generator
from mt_tensor.extending import check_flags, numbers_of, use_generator

SEED_BITS = 63


class DataLoader:
    """Iterates over a data set in batches; every iteration is one epoch.

    The settings are torch's. Workers are threads, so that nothing follows from two of them.

        >>> from mt_tensor import arange
        >>> [batch[0].tolist() for batch in DataLoader(TensorDataset(arange(5)), batch_size=2)]
        [[0, 1], [2, 3], [4]]

    Args:
        dataset: where samples come from. One with a method `__getitems__` is asked by it for the
            list of samples of a batch. An `IterableDataset` is iterated over once an epoch, by one
            worker if there are any, and never split between several.
        batch_size: how many make a batch; the last one may be smaller. With None samples come one
            by one, not joined.
        shuffle: whether to draw a new order for each epoch.
        sampler: numbers of samples in the order wanted, in place of `shuffle`.
        batch_sampler: lists of numbers, one for each batch; in place of `batch_size`, `shuffle`,
            `sampler` and `drop_last`.
        num_workers: how many threads make batches ahead of the loop; with 0 the loop waits for
            each batch. It changes neither batches nor their order.
        collate_fn: joins a list of samples into a batch; `default_collate` if None. Where
            `batch_size` is None it is given each sample; then `default_convert` if None.
        pin_memory: whether a GPU could copy batches faster. Nothing follows from it here, for
            workers are threads, and moving waits.
        drop_last: whether to leave out a last batch that is smaller.
        timeout: how many seconds to wait for a worker's batch; 0 for as long as it takes.
        worker_init_fn: called with its number, from 0, in each worker when it begins.
        generator: what the seed of an epoch is drawn from; by default the one that
            `mt_tensor.manual_seed` sets. Inside data set, sampler and `collate_fn` the default
            generator is one that belongs to the epoch, or to the batch.
        prefetch_factor: how many batches each worker is ahead; 2 if None.
        persistent_workers: whether workers outlive an epoch. Nothing follows from it here: to begin
            a thread costs nothing.

    Raises:
        SettingError: a setting is out of range, or contradicts another.
        TypeError: a setting is of another type.
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
        check_flags(shuffle=False if shuffle is None else shuffle, drop_last=drop_last)
        check_flags(pin_memory=pin_memory, persistent_workers=persistent_workers)
        _check_order(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        _check_workers(num_workers, timeout, prefetch_factor)
        self.dataset, self.generator, self.drop_last = dataset, generator, drop_last
        self.num_workers, self.timeout = num_workers, timeout
        self.worker_init_fn = worker_init_fn
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self.batch_size = None if batch_sampler is not None else batch_size
        self.collate_fn = collate_fn
        if not isinstance(dataset, IterableDataset) and batch_sampler is None:
            if sampler is None:
                sampler = RandomSampler(dataset) if shuffle else SequentialSampler(dataset)
            if batch_size is not None:
                batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self._seed: int | None = None  # of the epoch in progress
        self._position = 0  # how many of its batches have been given out
        self._generators: list[dict[str, Any]] = []  # where they were when it began
        self._resumes = False

    # --- One epoch --------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return how many batches an epoch has.

        Raises:
            TypeError: the data set, or the sampler, has no length.
        """
        if isinstance(self.dataset, IterableDataset):
            if self.batch_size is None:
                return len(self.dataset)
            return batch_count(self.dataset, self.batch_size, self.drop_last)
        return len(self._order())

    def __iter__(self) -> Iterator[Any]:
        """Begin an epoch, or go on with the one that `load_state_dict` has brought."""
        if self._resumes and self._seed is not None:
            seed, skipped = self._seed, self._position
        else:
            seed = int(numbers_of(self.generator).integers(2**SEED_BITS))
            skipped = 0
            self._generators = [each.get_state() for each in self._all_generators()]
        self._seed, self._position, self._resumes = seed, skipped, False
        return self._epoch(seed, skipped)

    def _epoch(self, seed: int, skipped: int) -> Iterator[Any]:
        """Yield the batches of an epoch except the first ones, and keep count."""
        items = self._items(seed, skipped)
        make = partial(self._make, seed)
        position = skipped
        for batch in self._prefetched(items, make) if self.num_workers else _made(items, make):
            position += 1
            if self._seed == seed:  # and no later epoch has begun
                self._position = position
            yield batch
        if self._seed == seed:
            self._seed, self._position = None, 0

    def _prefetched(self, items: Iterator[Any], make: Callable[[Any], Any]) -> Iterator[Any]:
        ahead = self.num_workers * self.prefetch_factor
        return prefetch(items, make, self.num_workers, ahead, self.timeout, self.worker_init_fn)

    def _items(self, seed: int, skipped: int) -> Iterator[tuple[int, Any]]:
        """Yield what each batch is made of: numbers of samples, or the samples; and its number."""
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
        if not isinstance(self.dataset, IterableDataset):
            return iter(self._order())
        samples = iter(self.dataset)
        if self.batch_size is None:
            return samples
        return batches(samples, self.batch_size, self.drop_last)

    def _order(self) -> Any:
        """Return what says which samples come next: lists of numbers, or numbers."""
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _make(self, seed: int, numbered: tuple[int, Any]) -> Any:
        number, item = numbered
        with use_generator(_generator_of(seed, number)):
            if isinstance(self.dataset, IterableDataset):
                joins, samples = self.batch_size is not None, item
            else:
                joins = self.batch_sampler is not None
                if joins and self.collate_fn is None and _takes_many(self.dataset):
                    return self.dataset[item]
                samples = self._samples(item) if joins else self.dataset[item]
            return (self.collate_fn or (default_collate if joins else default_convert))(samples)

    def _samples(self, numbers: Sequence[int]) -> list[Any]:
        several = getattr(self.dataset, "__getitems__", None)
        if several is None:
            return [self.dataset[number] for number in numbers]
        samples: list[Any] = several(numbers)
        if len(samples) != len(numbers):
            raise SettingError(
                f"__getitems__ of {type(self.dataset).__name__} returned {len(samples)} sample(s) "
                f"for {len(numbers)} number(s)."
            )
        return samples

    # --- Going on in the middle of an epoch -------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return where the loader is: numbers and strings that JSON and pickle can hold.

        That is the epoch begun last, how many of its batches have been given out, and the states
        of the generators passed to loader and sampler. Who draws from the default generator keeps
        that as well: `mt_tensor.get_rng_state()`.
        """
        running = self._seed is not None
        return {
            "seed": self._seed,
            "position": self._position,
            "batch_size": self.batch_size,
            "samples": self._sample_count(),
            "generators": self._generators
            if running
            else [each.get_state() for each in self._all_generators()],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next iteration go on where `state_dict` was called.

        The samples of the batches before are not read again, except those of an `IterableDataset`.

        Raises:
            SettingError: the state is that of another loader, or none.
        """
        generators = self._all_generators()
        try:
            seed, position, states = state["seed"], state["position"], state["generators"]
            fits = (
                state["batch_size"] == self.batch_size
                and state["samples"] == self._sample_count()
                and len(states) == len(generators)
                and (seed is None or 0 <= seed < 2**SEED_BITS)
                and position >= 0
            )
            if fits:
                for each, its in zip(generators, states, strict=True):
                    each.set_state(its)
        except (KeyError, TypeError, ValueError) as error:
            raise SettingError(f"this is no state of a DataLoader ({error!r}).") from error
        if not fits:
            raise SettingError(
                "the state is that of a loader with another data set, batch size or generators: "
                "make the loader as it was when state_dict() was called."
            )
        self._seed, self._position, self._generators = seed, position, list(states)
        self._resumes = True

    def _sample_count(self) -> int | None:
        """Return how many samples there are, if that is known."""
        try:
            return len(self.dataset)
        except TypeError:
            return None

    def _all_generators(self) -> list[Generator]:
        """Return those given to the loader and to its samplers, each once."""
        inner = getattr(self.batch_sampler, "sampler", None)
        holders = (self, self.sampler, self.batch_sampler, inner)
        generators = (getattr(holder, "generator", None) for holder in holders)
        return list({id(each): each for each in generators if isinstance(each, Generator)}.values())


def _made(items: Iterator[Any], make: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield what is made of each item. `map` would end where a data set raises StopIteration."""
    for item in items:
        yield make(item)


def _generator_of(seed: int, number: int) -> Generator:
    """Return the generator of a batch, from 1, or that of the sampler, 0."""
    return Generator().manual_seed(number << SEED_BITS | seed)


def _takes_many(dataset: Dataset) -> bool:
    """Whether a data set can return many rows at once, without a Python loop."""
    takes = getattr(type(dataset), "__getitem__", None)  # which a subclass may have replaced
    if takes is Subset.__getitem__:
        return _takes_many(cast(Subset, dataset).dataset)
    if takes is TransformedDataset.__getitem__:
        transformed = cast(TransformedDataset, dataset)
        return (
            _takes_many(transformed.dataset)
            and transformed.target_transform is None
            and (transformed.transform is None or takes_batches(transformed.transform))
        )
    return takes is TensorDataset.__getitem__


def _check_order(
    dataset: Dataset,
    batch_size: int | None,
    shuffle: bool | None,
    sampler: object,
    batch_sampler: object,
    drop_last: bool,
) -> None:
    """Raise SettingError if two settings say different things about the order of samples."""
    if batch_size is not None:
        integer("batch_size", batch_size, 1)
    elif drop_last:
        raise SettingError("drop_last needs a batch_size: without one there are no batches.")
    samplers = sampler is not None or batch_sampler is not None
    if isinstance(dataset, IterableDataset) and (shuffle or samplers):
        raise SettingError(
            "shuffle, sampler and batch_sampler choose samples by number, and an IterableDataset "
            "has none: let it yield its samples in the order wanted."
        )
    if shuffle and sampler is not None:
        raise SettingError("sampler and shuffle both set the order: give one of them.")
    if batch_sampler is not None and (
        batch_size != 1 or shuffle or sampler is not None or drop_last
    ):
        raise SettingError(
            "batch_sampler sets the batches: batch_size, shuffle, sampler and drop_last cannot be "
            "given beside it."
        )


def _check_workers(num_workers: int, timeout: Any, prefetch_factor: int | None) -> None:
    """Raise SettingError if a setting of the workers is out of range, or there are none to set."""
    integer("num_workers", num_workers, 0)
    if not (isinstance(timeout, int | float) and 0 <= timeout < threading.TIMEOUT_MAX):
        raise SettingError(f"timeout is a number of seconds from 0 on; got {timeout!r}.")
    if prefetch_factor is not None:
        integer("prefetch_factor", prefetch_factor, 1)
    if not num_workers and (timeout or prefetch_factor is not None):
        raise SettingError(
            "timeout and prefetch_factor are settings of workers: give num_workers as well."
        )
