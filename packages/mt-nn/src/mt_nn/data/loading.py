"""Workers: threads that make batches ahead of the loop that uses them.

Threads, not processes, for what making a batch waits for runs beside Python: files are read,
gzip is unpacked, and NumPy and the compiled kernels compute without Python's lock. A batch then is
where it is needed; from another process it would have to be pickled and copied, and so would the
data set, on the way there. Nor is a process safe to fork once libraries have started threads of
their own. The price: transforms written in plain Python gain nothing from a second worker.
"""

from __future__ import annotations

import atexit
import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

from mt_nn.core.dataset import Dataset
from mt_nn.core.errors import SettingError
from mt_nn.core.extensions import extends
from mt_nn.core.loader import SEED_BITS, DataLoader
from mt_nn.core.settings import integer
from mt_nn.data.datasets import IterableDataset
from mt_nn.errors import LoaderError
from mt_tensor.extending import check_flags

# --- Workers --------------------------------------------------------------------------------------


END = object()
"""What stands for the batch after the last one."""


def prefetch(
    items: Iterator[Any],
    make: Callable[[Any], Any],
    workers: int,
    ahead: int,
    timeout: float,
    start: Callable[[int], None] | None,
) -> Iterator[Any]:
    """Yield `make(item)` for each item, in order, made by threads.

    The threads end with the iteration, however it ends: behind the last item, by an error here or
    in a thread, or because it is not read any further.

    Args:
        items: what batches are made of. The threads take turns in asking for the next.
        make: makes a batch; called in several threads at once.
        workers: how many threads.
        ahead: how many batches are made, or being made, before they are asked for.
        timeout: how many seconds to wait for a batch; 0 for as long as it takes.
        start: called with its number in each thread before it begins.

    Raises:
        LoaderError: a batch was not made in time.
        Exception: what `items`, `make` or `start` raise, in the place of the batch.
    """
    team = _Team(items, make, workers, start)
    try:
        team.begin()
        awaited = deque(team.order() for _ in range(ahead))
        while (batch := _result(awaited.popleft(), timeout)) is not END:
            awaited.append(team.order())
            yield batch
    except LoaderError:
        team.patience = 0.0  # enough time was lost on what may never end
        raise
    finally:
        team.close()


def _result(batch: Future[Any], timeout: float) -> Any:
    try:
        return batch.result(timeout or None)
    except TimeoutError:
        if batch.done():  # then the error is the worker's own
            raise
        raise LoaderError(
            f"no batch arrived within {timeout} second(s): a worker is slow or stuck. Give a "
            "longer timeout, or use num_workers=0 to see where."
        ) from None


class _Team:
    """Threads that fulfil orders; each order becomes the next item's batch.

    They are daemons, so that one which is stuck for good does not keep the process from ending.

    Attributes:
        patience: how many seconds at most to wait for threads that are told to stop while they make
            a batch. They stop after it in any case.
    """

    def __init__(
        self,
        items: Iterator[Any],
        make: Callable[[Any], Any],
        workers: int,
        start: Callable[[int], None] | None,
    ) -> None:
        self.patience = 5.0
        self._items, self._make, self._start = items, make, start
        self._orders: SimpleQueue[Future[Any] | None] = SimpleQueue()
        self._turn = threading.Lock()
        self._closed = False
        self._threads = [
            threading.Thread(
                # A copy of the context each: it holds the chosen backend.
                target=contextvars.copy_context().run,
                args=(self._work, number),
                name=f"mt_nn-loader-{number}",
                daemon=True,
            )
            for number in range(workers)
        ]

    def begin(self) -> None:
        """Start the threads."""
        atexit.register(self.close)  # or Python takes its modules down around threads at work
        for thread in self._threads:
            thread.start()

    def order(self) -> Future[Any]:
        """Order the next batch."""
        batch: Future[Any] = Future()
        self._orders.put(batch)
        return batch

    def close(self) -> None:
        """Tell the threads to stop, and wait until they have, or patience ends."""
        self._closed = True
        for _ in self._threads:
            self._orders.put(None)
        until = time.monotonic() + self.patience
        for thread in self._threads:
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))
        atexit.unregister(self.close)

    def _work(self, number: int) -> None:
        """Fulfil orders until told to stop; an error is the result of the order that it befell."""
        begin = self._start
        while True:
            with self._turn:  # so that items go to orders in their order
                batch = self._orders.get()
                if batch is None or self._closed:
                    return
                try:
                    if begin is not None:
                        begin(number)
                        begin = None
                    item = next(self._items, END)
                except BaseException as error:  # noqa: BLE001 - it is raised where the batch is awaited
                    batch.set_exception(error)
                    continue
            try:
                batch.set_result(END if item is END else self._make(item))
            except BaseException as error:  # noqa: BLE001 - likewise
                batch.set_exception(error)
            del batch, item  # a batch belongs to the loop as soon as it is made


# --- What a loader takes --------------------------------------------------------------------------


@extends("worker threads")
def prefetched(
    loader: DataLoader, items: Iterator[Any], make: Callable[[Any], Any]
) -> Iterator[Any]:
    """Yield the batches of an epoch, made by threads ahead of the loop."""
    ahead = loader.num_workers * loader.prefetch_factor
    settings = (loader.num_workers, ahead, loader.timeout, loader.worker_init_fn)
    return prefetch(items, make, *settings)


# --- Resumption -----------------------------------------------------------------------------------


@extends("state of a loader")
def state_dict(loader: DataLoader) -> dict[str, Any]:
    """Return the position in the epoch: numbers and strings that JSON and pickle can hold.

    These are the seed of the epoch begun last, the number of its batches that have been yielded,
    and the states of the generators passed to loader and sampler. A program that draws from the
    default generator must save that as well: `mt_tensor.get_rng_state()`.
    """
    running = loader._seed is not None
    return {
        "seed": loader._seed,
        "position": loader._position,
        "batch_size": loader.batch_size,
        "samples": _sample_count(loader),
        "generators": loader._generators
        if running
        else [each.get_state() for each in loader.all_generators()],
    }


@extends("resumption of a loader")
def load_state_dict(loader: DataLoader, state: Mapping[str, Any]) -> None:
    """Let the next iteration continue where `state_dict` was called."""
    generators = loader.all_generators()
    try:
        seed, position, states = state["seed"], state["position"], state["generators"]
        fits = (
            state["batch_size"] == loader.batch_size
            and state["samples"] == _sample_count(loader)
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
    loader._seed, loader._position, loader._generators = seed, position, list(states)
    loader._resumes = True


def _sample_count(loader: DataLoader) -> int | None:
    """Return the number of samples, if it is known."""
    try:
        return len(loader.dataset)
    except TypeError:
        return None


# --- Settings -------------------------------------------------------------------------------------


@extends("settings of a loader")
def check_settings(settings: dict[str, Any]) -> None:
    """Raise SettingError for settings that are out of range, or contradict each other."""
    given = SimpleNamespace(**settings)
    check_flags(shuffle=False if given.shuffle is None else given.shuffle)
    flags = ("drop_last", "pin_memory", "persistent_workers")
    check_flags(**{name: settings[name] for name in flags})
    if given.batch_size is not None:
        integer("batch_size", given.batch_size, 1)
    elif given.drop_last:
        raise SettingError("drop_last needs a batch_size: without one there are no batches.")
    sampler, batch_sampler = given.sampler is not None, given.batch_sampler is not None
    if isinstance(given.dataset, IterableDataset) and (given.shuffle or sampler or batch_sampler):
        raise SettingError(
            "shuffle, sampler and batch_sampler choose samples by number, and an IterableDataset "
            "has none: let it yield its samples in the order wanted."
        )
    if given.shuffle and sampler:
        raise SettingError("sampler and shuffle both set the order: give one of them.")
    if batch_sampler and (given.batch_size != 1 or given.shuffle or sampler or given.drop_last):
        raise SettingError(
            "batch_sampler sets the batches: batch_size, shuffle, sampler and drop_last cannot be "
            "given beside it."
        )
    integer("num_workers", given.num_workers, 0)
    timeout, ahead = given.timeout, given.prefetch_factor
    if not (isinstance(timeout, int | float) and 0 <= timeout < threading.TIMEOUT_MAX):
        raise SettingError(f"timeout is a number of seconds from 0 on; got {timeout!r}.")
    if ahead is not None:
        integer("prefetch_factor", ahead, 1)
    if not given.num_workers and (timeout or ahead is not None):
        raise SettingError(
            "timeout and prefetch_factor are settings of workers: give num_workers as well."
        )


@extends("number of samples")
def check_samples(dataset: Dataset, samples: list[Any], numbers: Sequence[int]) -> None:
    """Raise SettingError unless `__getitems__` returned one sample for each number."""
    if len(samples) != len(numbers):
        raise SettingError(
            f"__getitems__ of {type(dataset).__name__} returned {len(samples)} sample(s) "
            f"for {len(numbers)} number(s)."
        )
