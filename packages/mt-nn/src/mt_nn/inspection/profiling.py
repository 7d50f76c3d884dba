"""`profile`: the time of each operation on tensors, forward and backward, like `torch.profiler`.

A profile is a tape: it intercepts the calls of backends, and the named operations, Functions and
gradient rules that they belong to. Operations are not slower while no profile is active.

Only the outermost operation is measured: the parts of `softmax` count as `softmax`. For backends
that work asynchronously, such as a GPU, the profile waits for the result.
"""

from __future__ import annotations

import enum
import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from mt_nn.errors import SettingError
from mt_nn.files.writing import write_atomically
from mt_nn.utils.settings import choice
from mt_tensor.extending import Call, Tape, active_tapes

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule"]


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


class ProfilerActivity(enum.Enum):
    """The devices to measure, for compatibility with torch.

    Here, the time of an operation always includes that of its device.
    """

    CPU = 0
    XPU = 1
    CUDA = 2


class ProfilerAction(enum.Enum):
    """The action of a profile in one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return the action of each step: cycles in which the last steps are measured.

    Args:
        wait: the number of steps at the beginning of a cycle that are not measured.
        warmup: the number of steps after them that are not measured, either.
        active: the number of measured steps, at least one.
        repeat: the number of cycles; 0 for no limit.
        skip_first: the number of steps before the first cycle.

    Raises:
        SettingError: a number is negative, or there are no measured steps.
    """
    if min(wait, warmup, active - 1, repeat, skip_first) < 0:
        raise SettingError(
            "schedule() takes non-negative numbers of steps, with at least one active; "
            f"wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, "
            f"skip_first={skip_first} were given."
        )

    def action(step: int) -> ProfilerAction:
        cycle, position = divmod(step - skip_first, wait + warmup + active)
        if cycle < 0 or 0 < repeat <= cycle or position < wait:
            return ProfilerAction.NONE
        if position < wait + warmup:
            return ProfilerAction.WARMUP
        last = position == wait + warmup + active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


class record_function(ContextDecorator):  # noqa: N801 - the name of torch
    """Measure a block, or a decorated function, under a name.

    Args:
        name: the name in tables and traces.
        args: accepted for compatibility with torch, without effect.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self._name = name
        self._starts: list[float] = []

    def __enter__(self) -> Self:
        self._starts.append(time.perf_counter())
        return self

    def __exit__(self, *_: object) -> None:
        start, end = self._starts.pop(), time.perf_counter()
        for tape in active_tapes():
            if isinstance(tape, profile):
                tape.add(self._name, start, end)


@dataclass(slots=True)
class FunctionEventAvg:
    """All calls of an operation or block, with times in microseconds.

    Attributes:
        key: its name.
        count: the number of calls.
        cpu_time_total: their duration.
        self_cpu_time_total: their duration without that of the operations inside.
    """

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0

    @property
    def cpu_time(self) -> float:
        """The mean duration of a call, in microseconds."""
        return self.cpu_time_total / self.count


class EventList(list[FunctionEventAvg]):
    """The times of all operations and blocks."""

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
        **_: Any,
    ) -> str:
        """Return a table in the format of torch.

        Args:
            sort_by: the attribute to sort by, in descending order, such as "cpu_time_total".
            row_limit: the maximum number of rows; -1 for all.
            max_name_column_width: the maximum length of names.

        Raises:
            SettingError: the attribute does not exist.
        """
        rows: list[FunctionEventAvg] = list(self)
        if sort_by is not None:
            keys = "cpu_time", "cpu_time_total", "self_cpu_time_total", "count"
            choice("sort_by", sort_by, keys)
            rows.sort(key=lambda row: -getattr(row, sort_by))
        duration = sum(row.self_cpu_time_total for row in self)
        cells = [_HEADERS]
        for row in rows[: row_limit if row_limit >= 0 else None]:
            self_time, total_time = row.self_cpu_time_total, row.cpu_time_total
            percentages = [
                f"{time / duration if duration else 0:.2%}" for time in (self_time, total_time)
            ]
            key = row.key[:max_name_column_width]
            times = _time(self_time), _time(total_time), _time(row.cpu_time)
            cells.append(
                (key, percentages[0], times[0], percentages[1], *times[1:], str(row.count))
            )
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.rjust, row, widths)) for row in cells]
        rule = "  ".join("-" * width for width in widths)
        total = f"Self CPU time total: {_time(duration)}"
        return "\n".join((rule, lines[0], rule, *lines[1:], rule, total))


_HEADERS = (
    *("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total"),
    *("CPU time avg", "# of Calls"),
)


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


class profile(Tape):  # noqa: N801 - the name of torch
    """Measure the time of every operation on tensors inside a `with` block.

    It measures the thread and the task that entered the block, and tasks that are started inside.

        with nn.profile() as p:
            model(x).sum().backward()
        print(p)

    With a schedule, some steps of a loop are measured:

        with nn.profile(schedule=schedule(wait=1, warmup=1, active=3)) as p:
            for batch in loader:
                train(batch)
                p.step()
        print(p.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))

    Named operations, such as "softmax", "conv2d" and "cross_entropy", and Functions are shown with
    their names, others as the primitives that they are composed of, and operations in backward with
    the names of nodes. The initial gradient is created before backward starts, and counts as
    forward. Programs of compiled functions are not measured.

    A measurement takes about a microsecond, which matters for small tensors. Every operation is
    stored as an event in the profile.

    Args:
        activities: accepted for compatibility with torch: operations of all devices are measured.
        schedule: returns the action of a step; by default, all steps are measured.
        on_trace_ready: called with the profile after each cycle of measured steps.
        record_shapes, profile_memory, with_stack, with_flops, with_modules: accepted for
            compatibility with torch, without effect.

    Attributes:
        events: the operations of the last cycle, in the order of their ends.

    Raises:
        SettingError: the profile is entered while it is active.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], object] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
    ) -> None:
        super().__init__()
        self._schedule, self._on_trace_ready = schedule, on_trace_ready
        self.step_num = 0
        self.events: list[Event] = []
        self._is_measuring = False  # whether an operation is being measured
        self._start = 0.0

    # --- Steps ------------------------------------------------------------------------------------

    @property
    def _action(self) -> ProfilerAction:
        always = ProfilerAction.RECORD
        return always if self._schedule is None else self._schedule(self.step_num)

    def __enter__(self) -> Self:
        """Start the first step.

        Raises:
            SettingError: the profile is already active.
        """
        if self.is_active:
            raise SettingError("this profile is already active: leave its block first.")
        self._apply_schedule()
        return self

    def __exit__(self, *error: object) -> None:
        """End the last step."""
        if self.is_active:
            self._end(*error)

    start, stop = __enter__, __exit__

    def step(self) -> None:
        """End a step, and start the next one."""
        if self._action is ProfilerAction.RECORD_AND_SAVE:
            self._end()
        self.step_num += 1
        self._apply_schedule()

    def _apply_schedule(self) -> None:
        """Start or stop measuring according to the schedule."""
        records = self._action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if records and not self.is_active:
            self.events, self._is_measuring, self._start = [], False, time.perf_counter()
            super().__enter__()
        elif not records and self.is_active:
            self._end()

    def _end(self, *error: object) -> None:
        """Stop measuring."""
        super().__exit__(*error)
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    # --- Measurements -----------------------------------------------------------------------------

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
        if self._is_measuring:
            return function(*arguments)
        self._is_measuring = True
        start = time.perf_counter()
        try:
            result = function(*arguments)
            _wait_for(result, arguments)
        finally:
            self._is_measuring = False
            self.add(name, start, time.perf_counter())
        return result

    def add(self, name: str, start: float, end: float) -> None:
        """Add an event, given the values of `time.perf_counter()` at its start and end."""
        self.events.append(Event(name, self.backward_depth > 0, start - self._start, end - start))

    # --- Results ----------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return a table of all operations."""
        return self.key_averages().table()

    def key_averages(self, *_: Any, **__: Any) -> EventList:
        """Return the time of each operation and block; those of backward are marked."""
        averages: dict[str, FunctionEventAvg] = {}
        around: list[tuple[float, FunctionEventAvg]] = []  # the ends of events, and their averages
        for event in sorted(self.events, key=lambda event: (event.start, -event.seconds)):
            key = f"{event.name} (backward)" if event.backward else event.name
            average = averages.setdefault(key, FunctionEventAvg(key))
            while around and around[-1][0] <= event.start:
                around.pop()
            microseconds = 1e6 * event.seconds
            average.count += 1
            average.cpu_time_total += microseconds
            average.self_cpu_time_total += microseconds
            if around:
                around[-1][1].self_cpu_time_total -= microseconds
            around.append((event.start + event.seconds, average))
        return EventList(averages.values())

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
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
