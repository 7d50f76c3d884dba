"""Parts of `DataLoader`: worker threads, resumption, and checks of settings.

Workers are threads, not processes, because reading files, decompression, NumPy and compiled kernels
release the GIL. Batches need no copy; between processes, batches and the data set would have to be
pickled. Forking is also unsafe after libraries have started threads. The disadvantage: transforms
in pure Python do not run in parallel.
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
from mt_nn.core.loader import END, SEED_BITS, DataLoader
from mt_nn.core.settings import integer
from mt_nn.data.datasets import IterableDataset
from mt_nn.errors import LoaderError
from mt_nn.utils.settings import check
from mt_tensor.extending import check_flags

# --- Workers --------------------------------------------------------------------------------------


@extends("worker threads")
def prefetched(
    loader: DataLoader, items: Iterator[Any], make: Callable[[Any], Any]
) -> Iterator[Future[Any]]:
    """Yield a completed future of `make(item)` for each item, in order, made by worker threads.

    A future has the result, or the error of `items`, `make` or `worker_init_fn`. The threads stop
    when the iteration ends: after the last item, after a timeout, or when the iterator is closed.

    Args:
        loader: the loader with the settings of the workers.
        items: the arguments of `make`; only one thread at a time calls `next`.
        make: creates a batch; called concurrently.

    Raises:
        LoaderError: a batch was not ready before the timeout.
    """
    pool = _Pool(items, make, loader.num_workers, loader.worker_init_fn)
    try:
        pool.start()
        pending = deque(pool.submit() for _ in range(loader.num_workers * loader.prefetch_factor))
        while not _is_end(batch := pending.popleft(), loader.timeout):
            pending.append(pool.submit())
            yield batch
    except LoaderError:
        pool.grace_period = 0.0  # the worker may be stuck
        raise
    finally:
        pool.close()


def _is_end(batch: Future[Any], timeout: float) -> bool:
    """Wait for a batch, and return whether it is the end of the epoch."""
    try:
        return batch.exception(timeout or None) is None and batch.result() is END
    except TimeoutError:
        raise LoaderError(
            f"no batch arrived within {timeout} second(s): a worker is slow or stuck. Increase "
            "the timeout, or debug with num_workers=0."
        ) from None


class _Pool:
    """Threads that create the batches of submitted futures, in order of the items.

    They are daemon threads, so that a stuck one does not keep the process from exiting.

    Attributes:
        grace_period: how many seconds `close` waits for threads that are creating a batch. They
            stop afterwards in any case.
    """

    def __init__(
        self,
        items: Iterator[Any],
        make: Callable[[Any], Any],
        workers: int,
        initialize: Callable[[int], None] | None,
    ) -> None:
        self.grace_period = 5.0
        self._items, self._make, self._initialize = items, make, initialize
        self._futures: SimpleQueue[Future[Any] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._threads = [
            threading.Thread(
                # Each has a copy of the context, which contains the current backend.
                target=contextvars.copy_context().run,
                args=(self._work, index),
                name=f"mt_nn-loader-{index}",
                daemon=True,
            )
            for index in range(workers)
        ]

    def start(self) -> None:
        """Start the threads."""
        atexit.register(self.close)  # before Python finalizes modules that the threads use
        for thread in self._threads:
            thread.start()

    def submit(self) -> Future[Any]:
        """Return a future of the next batch; `END` after the last one."""
        batch: Future[Any] = Future()
        self._futures.put(batch)
        return batch

    def close(self) -> None:
        """Stop the threads, and wait for them during the grace period."""
        self._closed = True
        for _ in self._threads:
            self._futures.put(None)
        deadline = time.monotonic() + self.grace_period
        for thread in self._threads:
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))
        atexit.unregister(self.close)

    def _work(self, index: int) -> None:
        """Complete futures until the pool is closed; errors are set as their exceptions."""
        initialize = self._initialize
        while True:
            with self._lock:  # futures and items are taken in the same order
                batch = self._futures.get()
                if batch is None or self._closed:
                    return
                try:
                    item = next(self._items, END)
                    if initialize is not None:
                        initialize(index)
                        initialize = None
                except BaseException as error:  # noqa: BLE001 - raised again by `result()`
                    batch.set_exception(error)
                    continue
            try:
                batch.set_result(END if item is END else self._make(item))
            except BaseException as error:  # noqa: BLE001 - raised again by `result()`
                batch.set_exception(error)
            del batch, item  # do not keep a batch alive while waiting


# --- Resumption -----------------------------------------------------------------------------------


@extends("state of a loader")
def state_dict(loader: DataLoader) -> dict[str, Any]:
    """Return the position in the epoch, as values that JSON and pickle support.

    The state consists of the seed of the last started epoch, the number of batches yielded in it,
    and the states of the generators of loader and samplers. Save the default generator separately
    if the program draws from it: `mt_tensor.get_rng_state()`.
    """
    states = [each.get_state() for each in loader.all_generators()]
    return {
        "seed": loader._seed,
        "position": loader._position,
        "batch_size": loader.batch_size,
        "samples": length_of(loader.dataset),
        "generators": states if loader._seed is None else loader._generators,
    }


@extends("resumption of a loader")
def load_state_dict(loader: DataLoader, state: Mapping[str, Any]) -> None:
    """Continue in the next iteration where `state_dict` was called."""
    generators = loader.all_generators()
    try:
        seed, position, states = state["seed"], state["position"], state["generators"]
        fits = (
            state["batch_size"] == loader.batch_size
            and state["samples"] == length_of(loader.dataset)
            and len(states) == len(generators)
            and (seed is None or 0 <= seed < 2**SEED_BITS)
            and position >= 0
        )
        if fits:
            for each, saved in zip(generators, states, strict=True):
                each.set_state(saved)
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError(
            f"load_state_dict(): this is not the state of a DataLoader ({error!r})."
        ) from error
    if not fits:
        raise SettingError(
            "load_state_dict(): the state does not fit this DataLoader: create the loader with the "
            "same data set, batch size and generators as the one that was saved."
        )
    loader._seed, loader._position, loader._generators = seed, position, list(states)
    loader._resumes = True


def length_of(sized: Any) -> int | None:
    """Return the length of a data set or a loader; None if it is unknown."""
    try:
        return len(sized)
    except TypeError:
        return None


# --- Settings -------------------------------------------------------------------------------------


@extends("settings of a loader")
def check_settings(settings: dict[str, Any]) -> None:
    """Raise SettingError for invalid or contradictory settings."""
    given = SimpleNamespace(**settings)
    check_flags(shuffle=False if given.shuffle is None else given.shuffle)
    flags = ("drop_last", "pin_memory", "persistent_workers")
    check_flags(**{name: settings[name] for name in flags})
    if given.batch_size is not None:
        integer("batch_size", given.batch_size, 1)
    elif given.drop_last:
        raise SettingError(
            "DataLoader: drop_last=True needs a batch_size; batch_size=None was given."
        )
    sampler, batch_sampler = given.sampler is not None, given.batch_sampler is not None
    if isinstance(given.dataset, IterableDataset) and (given.shuffle or sampler or batch_sampler):
        raise SettingError(
            "DataLoader: shuffle, sampler and batch_sampler need indices, which an IterableDataset "
            "does not have: yield its samples in the order you want."
        )
    if given.shuffle and sampler:
        raise SettingError(
            "DataLoader: shuffle and sampler are mutually exclusive, since both set the order."
        )
    if batch_sampler and (given.batch_size != 1 or given.shuffle or sampler or given.drop_last):
        raise SettingError(
            "DataLoader: batch_sampler cannot be combined with batch_size, shuffle, sampler or "
            "drop_last."
        )
    integer("num_workers", given.num_workers, 0)
    timeout, factor = given.timeout, given.prefetch_factor
    valid = isinstance(timeout, int | float) and 0 <= timeout < threading.TIMEOUT_MAX
    check("timeout", timeout, valid, "a non-negative number of seconds")
    if factor is not None:
        integer("prefetch_factor", factor, 1)
    if not given.num_workers and (timeout or factor is not None):
        raise SettingError("DataLoader: timeout and prefetch_factor need workers: set num_workers.")


@extends("number of samples")
def check_samples(dataset: Dataset, samples: list[Any], numbers: Sequence[int]) -> None:
    """Raise SettingError unless `__getitems__` returned one sample per index."""
    if len(samples) != len(numbers):
        raise SettingError(
            f"__getitems__ of {type(dataset).__name__} returned {len(samples)} sample(s) "
            f"for {len(numbers)} indices."
        )
