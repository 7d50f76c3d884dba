"""Background jobs: they report progress, and can be paused, resumed and stopped.

Streamlit runs the script of a page again after every interaction, and it must finish quickly.
Longer computations run in a thread, which the page polls. The thread knows of the user only through
these polls: if they stop, because another page or no page is open, it ends after a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import mt_tensor as mt
from mt_operators import Module
from mt_tensor.extending import use_generator

T = TypeVar("T")

State = Literal["running", "waiting", "ended", "failed"]

Work = Callable[[Callable[[T], None]], object]
"""A function that computes, and calls its argument with each intermediate result."""


@dataclass(frozen=True)
class Progress:
    """A report of a job that trains a network.

    Attributes:
        losses: the loss of every step; the list grows during training.
        right: the latest accuracy, or None if it has not been measured yet.
        network: a copy of the network at that time.
    """

    losses: Sequence[float]
    right: float | None
    network: Module


class Ended(Exception):  # noqa: N818 - nothing went wrong
    """Raised inside a job that is to end, when it reports."""


class Job(Generic[T]):
    """A computation in a separate thread, which starts immediately.

    It also has its own default random generator, so that a seed gives the same numbers regardless
    of other jobs.

        >>> def count(report: Callable[[int], None]) -> None:
        ...     for number in range(3):
        ...         report(number)
        >>> job = Job(count)
        >>> job.join()
        >>> job.look(), job.state
        (2, 'ended')

    Args:
        work: the computation. It pauses and ends only when it reports, so it should report often.
        unseen: the number of seconds without polls after which the job ends.
        clock: the function that returns the time in seconds.

    Attributes:
        failure: why the job failed or ended early, as a sentence; else empty.
    """

    def __init__(
        self,
        work: Work[T],
        *,
        unseen: float = 180.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.failure = ""
        self._state: State | None = None
        self._latest: T | None = None
        self._unseen, self._clock = unseen, clock
        self._seen = clock()
        self._ending = False
        self._may_run = threading.Event()
        self._may_run.set()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    @property
    def state(self) -> State:
        """The state: "running"; "waiting" for `resume`; "ended"; or "failed"."""
        return self._state or ("running" if self._may_run.is_set() else "waiting")

    def look(self) -> T | None:
        """Return the latest report, or None before the first; this counts as a poll."""
        self._seen = self._clock()
        return self._latest

    def wait(self) -> None:
        """Pause at the next report."""
        self._may_run.clear()

    def resume(self) -> None:
        """Continue."""
        self._may_run.set()

    def end(self) -> None:
        """End at the next report."""
        self._ending = True
        self.resume()

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, with an optional timeout in seconds."""
        self._thread.join(timeout)

    def _run(self, work: Work[T]) -> None:
        """Run, and keep errors; unexpected ones are raised as well, to be printed."""
        try:
            with use_generator(mt.Generator()):
                work(self._report)
        except Ended as error:
            self.failure = str(error)
        except (ArithmeticError, LookupError, OSError, RuntimeError, ValueError) as error:
            self.failure, self._state = str(error), "failed"
        except BaseException as error:
            self.failure, self._state = f"{type(error).__name__}: {error}", "failed"
            raise
        self._state = self._state or "ended"

    def _report(self, result: T) -> None:
        """Store a result, and return when the job may continue.

        Raises:
            Ended: the job is to end, or no page has shown it for a while.
        """
        self._latest = result
        while not self._may_run.wait(1.0) and self._is_seen():
            pass
        if self._ending:
            raise Ended("")
        if not self._is_seen():
            raise Ended("the page has not been open for a while.")

    def _is_seen(self) -> bool:
        return self._clock() - self._seen <= self._unseen
