"""`profile`: how much time each operation on tensors takes, forward and backward.

A profile is a tape: it sees the calls of backends, and the named operations, Functions and chain
rules that they belong to. Without one no operation is slower.

Only the outermost operation counts: what `softmax` is composed of belongs to `softmax`. Work that a
backend does in its own time, as a GPU, is waited for.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from mt_nn.errors import SettingError
from mt_nn.files.writing import write_atomically
from mt_tensor.extending import Call, Tape


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


class profile(Tape):  # noqa: N801 - torch's name
    """Takes the time of every operation on tensors that is run inside a `with` block.

    Only those of the thread and the task that entered it, and of tasks begun inside, are counted.

        with nn.profile() as p:
            model(x).sum().backward()
        print(p)

    Named operations (`softmax`, `conv2d`, `cross_entropy` ...) and Functions have their names;
    others show as the primitives that they are composed of, as `matmul` and `add` of a linear
    layer. In the backward, operations have the names of the nodes. What a compiled function runs
    from its program is not seen.

    Taking the time of an operation takes about a microsecond, which small tensors feel. Every
    operation is kept as an event until the profile is dropped.

    Attributes:
        events: the operations, in the order in which they ended.

    Raises:
        SettingError: entered while it is running.
    """

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self._inside = False  # of an operation, whose parts are not counted
        self._backward = 0  # how many backwards are under way
        self._began = 0.0

    def __enter__(self) -> Self:
        """Begin, or go on.

        Raises:
            SettingError: it is running already.
        """
        if self.is_active:
            raise SettingError("this profile is running already: leave its block first.")
        self._inside, self._backward = False, 0
        self._began = self._began or time.perf_counter()
        return super().__enter__()

    def handle(self, call: Call) -> Any:
        """Take the time of a call of a backend; looking up a kernel is none."""
        if call.name == "kernel":
            return call.run()
        name = f"{call.name} {call.arguments[0].name}" if call.name == "reduce" else call.name
        return self._timed(name, Call.run, (call,))

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Take the time of an operation."""
        return self._timed(name, function, arguments)

    def handle_backward(self, walk: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Count what is run meanwhile as backward."""
        self._backward += 1
        try:
            return walk(*arguments)
        finally:
            self._backward -= 1

    def _timed(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a function, and take note of how long it takes unless it is part of another."""
        if self._inside:
            return function(*arguments)
        self._inside = True
        start = time.perf_counter()
        try:
            result = function(*arguments)
            _wait_for(result, arguments)
        finally:
            seconds = time.perf_counter() - start
            self._inside = False
            self.events.append(Event(name, self._backward > 0, start - self._began, seconds))
        return result

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
                "tid": threading.get_ident(),
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
