"""`profile`: the time of each operation on tensors, forward and backward.

A profile is a tape: it intercepts the calls of backends, and the named operations, Functions and
gradient rules that they belong to. Operations are not slower while no profile is active.

Only the outermost operation is measured: the parts of `softmax` count as `softmax`. For backends
that work asynchronously, such as a GPU, the profile waits for the result.
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
    """One execution of an operation.

    Attributes:
        name: the name of the operation, or of the node in backward.
        backward: whether it was part of backward.
        start: its start, in seconds since that of the profile.
        seconds: its duration.
    """

    name: str
    backward: bool
    start: float
    seconds: float


@dataclass(frozen=True)
class OperationTime:
    """All calls of one operation.

    Attributes:
        name: the name of the operation, or of the node in backward.
        backward: whether the calls were part of backward.
        calls: the number of calls.
        seconds: their total duration.
    """

    name: str
    backward: bool
    calls: int
    seconds: float

    @property
    def mean(self) -> float:
        """The mean duration of a call, in seconds."""
        return self.seconds / self.calls


class profile(Tape):  # noqa: N801 - the name of torch
    """Measure the time of every operation on tensors inside a `with` block.

    It measures the thread and the task that entered the block, and tasks that are started inside.

        with nn.profile() as p:
            model(x).sum().backward()
        print(p)

    Named operations (`softmax`, `conv2d`, `cross_entropy` ...) and Functions are shown with their
    names, others as the primitives that they are composed of, and operations in backward with the
    names of nodes. The initial gradient is created before backward starts, and counts as forward.
    Programs of compiled functions are not measured.

    A measurement takes about a microsecond, which matters for small tensors. Every operation is
    stored as an event in the profile.

    Attributes:
        events: the operations, in the order of their ends.

    Raises:
        SettingError: the profile is entered while it is active.
    """

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self._inside = False  # whether an operation is being measured
        self._began = 0.0

    def __enter__(self) -> Self:
        """Start, or continue.

        Raises:
            SettingError: the profile is active already.
        """
        if self.is_active:
            raise SettingError("this profile is active already: leave its block first.")
        self._inside = False
        self._began = self._began or time.perf_counter()
        return super().__enter__()

    def handle(self, call: Call) -> Any:
        """Measure a call of a backend, except for a lookup of a kernel."""
        if call.name == "kernel":
            return call.run()
        name = f"{call.name} {call.arguments[0].name}" if call.name == "reduce" else call.name
        return self._timed(name, Call.run, (call,))

    def handle_operation(
        self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        """Measure an operation."""
        return self._timed(name, function, arguments)

    def _timed(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a function, and measure it unless it is part of another operation."""
        if self._inside:
            return function(*arguments)
        self._inside = True
        start = time.perf_counter()
        try:
            result = function(*arguments)
            _wait_for(result, arguments)
        finally:
            self._inside = False
            self.add(name, start, time.perf_counter())
        return result

    def add(self, name: str, start: float, end: float) -> None:
        """Add an event, given the values of `time.perf_counter()` at its start and end."""
        self.events.append(Event(name, self.backward_depth > 0, start - self._began, end - start))

    # --- Results --------------------------------------------------------------------------------

    def rows(self) -> list[OperationTime]:
        """Return the calls and the time of each operation, the longest first."""
        times: dict[tuple[str, bool], list[float]] = {}
        for event in self.events:
            times.setdefault((event.name, event.backward), []).append(event.seconds)
        rows = [OperationTime(*which, len(taken), sum(taken)) for which, taken in times.items()]
        return sorted(rows, key=lambda row: -row.seconds)

    def __str__(self) -> str:
        """Return a table of all operations, forward and backward."""
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
        """Write the events as a Chrome trace, for `chrome://tracing` or Perfetto.

        Raises:
            FileError: the file could not be written.
        """
        import json

        events = [
            {
                "name": event.name,
                "cat": "backward" if event.backward else "forward",
                "ph": "X",  # a complete event; times are in microseconds
                "ts": 1e6 * event.start,
                "dur": 1e6 * event.seconds,
                "pid": os.getpid(),
                "tid": threading.get_ident(),
            }
            for event in self.events
        ]
        write_atomically(path, json.dumps({"traceEvents": events}).encode())


def _wait_for(result: Any, args: tuple[Any, ...]) -> None:
    """Wait for the asynchronous work of a backend."""
    for value in (result, *args[:1]):
        backend = getattr(value, "backend", None)
        if backend is not None:
            backend.synchronize()
            return
