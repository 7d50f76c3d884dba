"""A computation beside the page: it reports as it goes on, waits, goes on again, and ends.

A page of Streamlit is computed anew whenever its reader changes something, and must answer at once.
What takes longer runs in a thread, and the page asks now and then how far it is. The thread has no
other tie to the reader than these questions: when they stay out, because another page or no page at
all is open, it waits, and after a while it ends.
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
"""A function that computes, and calls what it is given with each result on its way."""


class Ended(Exception):  # noqa: N818 - nothing went wrong
    """Raised inside a computation that is to end, where it reports."""


class Job(Generic[T]):
    """A computation in a thread of its own, which begins at once.

    Its default sequence of random numbers is its own as well: a seed gives what it gives alone,
    whatever is computed beside it.

        >>> def count(report: Callable[[int], None]) -> None:
        ...     for number in range(3):
        ...         report(number)
        >>> job = Job(count)
        >>> job.join()
        >>> job.look(), job.state
        (2, 'ended')

    Args:
        work: what to compute. Between two reports it must not take long: it waits and ends where it
            reports.
        seconds: for how long it may run, not counting what it waits.
        unseen: for how many seconds it goes on although nobody looks.
        forgotten: after how many seconds in which nobody looks it ends.
        clock: what tells the time, in seconds.

    Attributes:
        state: "running"; "waiting", until `resume` is called; "ended"; or "failed".
        failure: why it failed, or ended early, in a sentence; empty if it did not.
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
        """Return the latest report, or None before the first, and let it know that it is seen."""
        with self._changed:
            self._seen = self._clock()
            self._changed.notify_all()
            return self._latest

    def wait(self) -> None:
        """Let it wait at its next report."""
        self._become("waiting", "running")

    def resume(self) -> None:
        """Let it go on."""
        self._become("running", "waiting")

    def end(self) -> None:
        """Let it end at its next report."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, at most for so many seconds."""
        self._thread.join(timeout)

    def _become(self, state: State, instead: State) -> None:
        with self._changed:
            self._seen = self._clock()
            if self.state == instead:
                self.state = state
            self._changed.notify_all()

    def _run(self, work: Work[T]) -> None:
        """Compute, and keep what went wrong; what nobody has foreseen the terminal tells, too."""
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
        """Keep a result, and go on as soon as this is wanted.

        Raises:
            Ended: it is not wanted any more, or has run for long enough.
        """
        seconds, unseen, forgotten = self._limits
        with self._changed:
            self._latest = result
            now = self._clock()
            self._ran += now - self._since
            while not self._ending and (self.state == "waiting" or now - self._seen > unseen):
                if now - self._seen > forgotten:
                    raise Ended("nobody has looked for a while.")
                self._changed.wait(min(1.0, forgotten))
                now = self._clock()
            self._since = now
            if self._ending:
                raise Ended("")
            if self._ran > seconds:
                raise Ended(f"it has run for {seconds:g} seconds, which is its limit.")
