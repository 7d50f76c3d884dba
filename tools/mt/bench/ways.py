"""`mt bench ways`: whether operations on a device take one kernel, several, or the host.

The calls are other packages': what is entered as `mt_tensor.calls` is a function that yields the
name of an operation, and what prepares a call of it on the backend in use. A recorder counts. Only
for an operation that asks for something does the simulator compute, since it goes on by the answer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import mt_tensor
from mt.bench.launches import counts
from mt_cuda import CudaOps
from mt_cuda.core.simulator import Memory, Order
from mt_cuda.recording import Record, Recorder
from mt_tensor import Tensor, autograd, ones_like, use_backend
from mt_tensor.extending import Array

GROUP = "mt_tensor.calls"

Prepare = Callable[[], tuple[Callable[[], Sequence[Tensor]], Sequence[Tensor]]]
"""Prepares a call and the leaves by which its results are differentiated, if there are any."""

INTRODUCTION = """\
# The way of each operation on a device

This file is made by `hatch run mt bench ways`, which runs every operation on samples of
a few elements and counts, forward and backward, for the second time:

- **view**: nothing is launched.
- **one kernel**: one launch.
- **composed**: several launches.
- **sends numbers**: constants that Python has made are copied to the device.
- **waits for a number**: one that decides what is done next, or how large a result is.
- **by way of the host**: elements are copied to the host, which computes with them.

Where calls of one operation go several ways, all are named. Operations that change their argument
are called on a copy, which is counted, too.
"""

WAYS = (
    "view",
    "one kernel",
    "composed",
    "sends numbers",
    "waits for a number",
    "by way of the host",
)
"""Those that an operation can go; the last three make the host and the device wait."""

FEW = 2
"""So many numbers in a download are no data: the extremes of indices, for instance."""


@dataclass(frozen=True, slots=True)
class Count:
    """What a call of an operation asks of a device.

    Attributes:
        name: the operation's.
        forward: what is asked for its results.
        backward: what is asked for the gradients; None if there are none.
    """

    name: str
    forward: Record
    backward: Record | None


def way(record: Record) -> str:
    """Return which of the `WAYS` was gone."""
    if record.downloaded > FEW * record.downloads:
        return "by way of the host"
    if record.downloads:
        return "waits for a number"
    if record.uploads:
        return "sends numbers"
    return WAYS[min(len(record.launches), 2)]


def calls() -> Iterator[tuple[str, str, Prepare]]:
    """Yield the calls that installed packages offer: under which heading, of what, and how."""
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.value):
        for name, prepare in entry.load()():
            yield entry.name, name, prepare


def counted(name: str, prepare: Prepare) -> Count:
    """Return what a call asks of a device that has run it before.

    Args:
        name: the operation's.
        prepare: prepares the call.
    """
    try:
        return _counted(name, prepare, _Counter())
    except _AskedError:
        return _counted(name, prepare, _Counter("forward"))


class _AskedError(Exception):
    """The host wants to know something."""


class _Counter(Recorder):
    """A recorder that an operation can ask for nothing, unless kernels are run.

    Attributes:
        preparing: whether what asks is not an operation yet.
    """

    def __init__(self, order: Order | None = None) -> None:
        super().__init__(order)
        self.preparing = True

    def download(self, memory: Memory, count: int) -> Array:
        if not (self.preparing or self._runs):
            raise _AskedError
        return super().download(memory, count)

    def download_all(self, parts: Sequence[tuple[Memory, int]]) -> list[Array]:
        """Count what was asked for, and not the notice of wrong indices that comes along."""
        copies = super().download_all(parts)
        self.record.downloads -= len(parts) - 1
        self.record.downloaded -= sum(count for _, count in parts[1:])
        return copies


def _counted(name: str, prepare: Prepare, machine: _Counter) -> Count:
    with use_backend(CudaOps(machine)):
        _passes(machine, prepare)  # the first makes what the backend keeps
        return Count(name, *_passes(machine, prepare))


def _passes(machine: _Counter, prepare: Prepare) -> tuple[Record, Record | None]:
    """Return what was recorded forward and backward."""
    machine.preparing = True
    call, leaves = prepare()
    machine.preparing, machine.record = False, Record()
    with _samples_left_out(machine):
        results = call()
    forward, machine.record = machine.record, Record()
    smooth = [result for result in results if result.requires_grad]
    if not leaves or not smooth:
        return forward, None
    upstream = [ones_like(result) for result in smooth]
    machine.record = Record()
    autograd.grad(smooth, leaves, upstream, allow_unused=True)
    return forward, machine.record


@contextmanager
def _samples_left_out(machine: Recorder) -> Iterator[None]:
    """Leave out what is uploaded by `mt_tensor.tensor`: samples make arguments within a call.

    Packages import the function from where it is defined; by this name it is called from outside.
    """
    tensor = mt_tensor.tensor

    def unrecorded(*args: Any, **keywords: Any) -> Tensor:
        record, machine.record = machine.record, Record()
        try:
            return tensor(*args, **keywords)
        finally:
            machine.record = record

    mt_tensor.tensor = unrecorded
    try:
        yield
    finally:
        mt_tensor.tensor = tensor


# --- The report -----------------------------------------------------------------------------------


def report(as_json: bool, names: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of the report: a table in Markdown, or each call as JSON, for programs.

    Args:
        as_json: whether it is JSON.
        names: the operations that it is about, in a table alone; none for all, with an introduction
            and a heading for each package.
    """
    found = [
        (heading, counted(name, prepare))
        for heading, name, prepare in calls()
        if not names or name in names
    ]
    if as_json:
        yield json.dumps([_described(count) for _, count in found], indent=2)
    elif names:
        yield from _table([count for _, count in found])
    else:
        yield INTRODUCTION.rstrip()
        for heading in dict.fromkeys(heading for heading, _ in found):
            yield f"\n## {heading}\n"
            yield from _table([count for each, count in found if each == heading])


def _described(count: Count) -> dict[str, Any]:
    return {
        "operation": count.name,
        **{
            direction: record and {"way": way(record), **counts(record)}
            for direction, record in (("forward", count.forward), ("backward", count.backward))
        },
    }


def _table(section: Sequence[Count]) -> Iterator[str]:
    yield "| operation | forward | backward |"
    yield "|---|---|---|"
    for name in dict.fromkeys(count.name for count in section):
        alike = [count for count in section if count.name == name]
        forward = _ways([count.forward for count in alike])
        backward = _ways([count.backward for count in alike])
        yield f"| `{name}` | {forward} | {backward} |"


def _ways(records: Sequence[Record | None]) -> str:
    """Return the ways gone in these records, the shortest first."""
    gone = {way(record) for record in records if record}
    return ", ".join(each for each in WAYS if each in gone)


def run(options: argparse.Namespace) -> None:
    """Count and print."""
    for line in report(options.json, options.names):
        print(line)
