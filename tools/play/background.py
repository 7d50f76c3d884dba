"""Background jobs: they report progress, and can be paused, resumed and stopped.

Streamlit runs the script of a page again after every interaction, and it must finish quickly.
Longer computations run in a thread, which the page polls. The thread knows of the user only through
these polls: if they stop, because another page or no page is open, it pauses, and later ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

import mt_tensor as mt
from mt_tensor.extending import use_generator

T = TypeVar("T")

State = Literal["running", "waiting", "ended", "failed"]

Work = Callable[[Callable[[T], None]], object]
"""A function that computes, and calls its argument with each intermediate result."""


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
        seconds: the time limit, without pauses.
        unseen: after how many seconds without polls it pauses.
        forgotten: after how many seconds without polls it ends.
        clock: the function that returns the time in seconds.

    Attributes:
        state: "running"; "waiting" for `resume`; "ended"; or "failed".
        failure: why it failed or ended early, as a sentence; else empty.
    """

    def __init__(
        self,
        work: Work[T],
        *,
        seconds: float = 600.0,
        unseen: float = 10.0,
        forgotten: float = 180.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.state: State = "running"
        self.failure = ""
        self._latest: T | None = None
        self._limits = seconds, unseen, forgotten
        self._clock = clock
        self._ending = False
        self._ran = 0.0
        self._seen = self._since = clock()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def look(self) -> T | None:
        """Return the latest report, or None before the first; this counts as a poll."""
        with self._changed:
            self._seen = self._clock()
            self._changed.notify_all()
            return self._latest

    def wait(self) -> None:
        """Pause at the next report."""
        self._become("waiting", "running")

    def resume(self) -> None:
        """Continue."""
        self._become("running", "waiting")

    def end(self) -> None:
        """End at the next report."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, with an optional timeout in seconds."""
        self._thread.join(timeout)

    def _become(self, state: State, instead: State) -> None:
        with self._changed:
            self._seen = self._clock()
            if self.state == instead:
                self.state = state
            self._changed.notify_all()

    def _run(self, work: Work[T]) -> None:
        """Run, and keep errors; unexpected ones are raised as well, to be printed."""
        try:
            with use_generator(mt.Generator()):
                work(self._report)
        except Ended as error:
            self._finish("ended", str(error))
        except (ArithmeticError, LookupError, OSError, RuntimeError, ValueError) as error:
            self._finish("failed", str(error))
        except BaseException as error:
            self._finish("failed", f"{type(error).__name__}: {error}")
            raise
        else:
            self._finish("ended", "")

    def _finish(self, state: State, failure: str) -> None:
        with self._changed:
            self.state, self.failure = state, failure

    def _report(self, result: T) -> None:
        """Store a result, and return when the job may continue.

        Raises:
            Ended: it is to end, or has reached its limit.
        """
        seconds, unseen, forgotten = self._limits
        with self._changed:
            self._latest = result
            now = self._clock()
            self._ran += now - self._since
            while not self._ending and (self.state == "waiting" or now - self._seen > unseen):
                if now - self._seen > forgotten:
                    raise Ended("the page has not been open for a while.")
                self._changed.wait(min(1.0, forgotten))
                now = self._clock()
            self._since = now
            if self._ending:
                raise Ended("")
            if self._ran > seconds:
                raise Ended(f"it has reached its limit of {seconds:g} seconds.")
