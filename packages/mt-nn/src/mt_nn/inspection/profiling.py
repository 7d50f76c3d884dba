"""`profile`: how much time each operation on tensors takes, forward and backward.

Nothing is counted unless a profile runs. While one does, every function that runs an operation is
replaced by one that looks at the clock. So no operation is slower for it when it is off.

Only the outermost operation counts: what `softmax` is composed of belongs to `softmax`. Work that a
backend does in its own time, as a GPU, is waited for.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from mt_nn import functional
from mt_nn.errors import SettingError
from mt_nn.files.writing import write_atomically
from mt_tensor.profiling.instrumentation import instrument


class Event(NamedTuple):
    """One operation that was run.

    Attributes:
        name: that of the operation, or of the recorded node in the backward.
        backward: whether it was part of a backward.
        start: when it began, in seconds since the profile did.
        seconds: how long it took.
    """

    name: str
    backward: bool
    start: float
    seconds: float


@dataclass(frozen=True)
class OperationTime:
    """All calls of one operation.

    Attributes:
        name: that of the operation, or of the recorded node in the backward.
        backward: whether they were part of a backward.
        calls: how many there were.
        seconds: how long they took together.
    """

    name: str
    backward: bool
    calls: int
    seconds: float

    @property
    def mean(self) -> float:
        """How many seconds one call took."""
        return self.seconds / self.calls


class profile:  # noqa: N801 - torch's name
    """Takes the time of every operation on tensors that is run inside a `with` block.

    Only those of the thread and the task that entered it, and of tasks begun inside, are counted.

        with nn.profile() as p:
            model(x).sum().backward()
        print(p)

    Taking the time of an operation takes about a microsecond, which small tensors feel. Every
    operation is kept as an event until the profile is dropped.

    Attributes:
        events: the operations, in the order in which they ended.

    Raises:
        SettingError: entered while another profile runs.
    """

    _running: profile | None = None
    _beginning = threading.Lock()
    _inherited: ContextVar[profile | None] = ContextVar("mt_nn_profile", default=None)

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._inside = False  # of an operation, whose parts are not counted
        self._backward = 0  # how many backwards are under way
        self._thread = 0
        self._began = 0.0
        self._undo: Callable[[], None] = lambda: None

    # --- On and off -----------------------------------------------------------------------------

    def __enter__(self) -> Self:
        """Begin."""
        with profile._beginning:
            if profile._running is not None:
                raise SettingError("a profile is running already: leave its block first.")
            profile._running = self
        self._before = profile._inherited.set(self)
        self._thread, self._inside, self._backward = threading.get_ident(), False, 0
        try:
            self._undo = instrument(self._timed, self._in_backward, [functional])
        except BaseException:
            self.__exit__()
            raise
        self._began = self._began or time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        """Put everything back."""
        self._undo()
        profile._inherited.reset(self._before)
        profile._running = None

    # --- Taking the time ------------------------------------------------------------------------

    def _counts(self) -> bool:
        """Whether what is run now is to be counted; not if somebody kept a function for later."""
        here = threading.get_ident() == self._thread
        return here and profile._running is self and profile._inherited.get() is self

    def _timed(self, function: Any, name_of: Callable[[tuple[Any, ...]], str]) -> Any:
        """Return a function that notes how long each call takes."""

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._inside or not self._counts():
                return function(*args, **kwargs)
            self._inside = True
            name = name_of(args)
            start = time.perf_counter()
            try:
                result = function(*args, **kwargs)
                _wait_for(result, args)
            finally:
                seconds = time.perf_counter() - start
                self._inside = False
                self.events.append(Event(name, self._backward > 0, start - self._began, seconds))
            return result

        return timed

    def _in_backward(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the walk through the graph, during which all operations count as backward."""

        @functools.wraps(function)
        def walk(*args: Any, **kwargs: Any) -> Any:
            mine = self._counts()
            self._backward += mine
            try:
                return function(*args, **kwargs)
            finally:
                self._backward -= mine

        return walk

    # --- What came of it ------------------------------------------------------------------------

    def rows(self) -> list[OperationTime]:
        """Return calls and time of each operation, the longest first."""
        times: dict[tuple[str, bool], list[float]] = {}
        for event in self.events:
            times.setdefault((event.name, event.backward), []).append(event.seconds)
        rows = [OperationTime(*which, len(taken), sum(taken)) for which, taken in times.items()]
        return sorted(rows, key=lambda row: -row.seconds)

    def __str__(self) -> str:
        """Show a table of all operations, forward and backward."""
        rows = self.rows()
        total = sum(row.seconds for row in rows)
        width = max([len("operation"), *(len(row.name) for row in rows)])
        lines = [f"{'operation':{width}}  {'':8}  {'calls':>7}  {'total':>11}  {'mean':>11}  share"]
        for row in rows:
            way = "backward" if row.backward else "forward"
            lines.append(
                f"{row.name:{width}}  {way:8}  {row.calls:7}  {1e3 * row.seconds:8.3f} ms  "
                f"{1e6 * row.mean:8.1f} us  {row.seconds / total:5.1%}"
            )
        for backward in (False, True):
            way = "backward" if backward else "forward"
            chosen = [row for row in rows if row.backward is backward]
            seconds, calls = sum(row.seconds for row in chosen), sum(row.calls for row in chosen)
            lines.append(f"{'all':{width}}  {way:8}  {calls:7}  {1e3 * seconds:8.3f} ms")
        return "\n".join(lines)

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the events in Chrome's format, for `chrome://tracing` or Perfetto.

        Raises:
            FileError: the file could not be written.
        """
        import json

        events = [
            {
                "name": event.name,
                "cat": "backward" if event.backward else "forward",
                "ph": "X",  # an event with a duration; times are in microseconds
                "ts": 1e6 * event.start,
                "dur": 1e6 * event.seconds,
                "pid": os.getpid(),
                "tid": self._thread,
            }
            for event in self.events
        ]
        write_atomically(path, json.dumps({"traceEvents": events}).encode())


def _wait_for(result: Any, args: tuple[Any, ...]) -> None:
    """Wait until what a backend does in its own time is done."""
    for value in (result, *args[:1]):
        backend = getattr(value, "backend", None)
        if backend is not None:
            backend.synchronize()
            return
