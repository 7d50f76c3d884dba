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
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from mt_nn.errors import LoaderError

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
    in a thread, or because nobody goes on with it.

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
