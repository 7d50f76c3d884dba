"""`mt bench launches`: how often training steps launch, copy and wait, counted without a GPU."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from mt.bench.device_steps import STEPS
from mt_cuda import CudaOps
from mt_cuda.recording import Record, Recorder
from mt_tensor import use_backend

MUCH = 10_000_000
"""The number of operations from which a launch should keep every multiprocessor busy."""


def recorded(make: Callable[[], Callable[[], Any]]) -> Record:
    """Return the record of a step that has run before.

    Args:
        make: builds the network, and returns one step of its training.
    """
    machine = Recorder()
    with use_backend(CudaOps(machine)):
        step = make()
        for _ in range(2):  # the first creates the state of the optimizer
            step()
        machine.record = Record()
        step()
    return machine.record


def counts(record: Record) -> dict[str, int]:
    """Return the counts of a record, as they are printed."""
    return {
        "launches": len(record.launches),
        "allocations": record.allocations,
        "uploads": record.uploads,
        "downloads": record.downloads,
        "synchronisations": record.synchronisations,
    }


def counts_of_step(name: str, record: Record) -> dict[str, Any]:
    """Return the counts of a step, as they are printed."""
    return {"step": name, **counts(record), "least_blocks": record.least_blocks(MUCH)}


def report(as_json: bool, each: bool) -> Iterator[str]:
    """Yield the lines of the report.

    Args:
        as_json: whether to print JSON, for programs.
        each: whether to list the kernels of each step, most frequent first.
    """
    records = {name: recorded(make) for name, make in STEPS.items()}
    if as_json:
        yield json.dumps(
            [counts_of_step(name, record) for name, record in records.items()], indent=2
        )
    else:
        for name, record in records.items():
            yield ", ".join(f"{value} {key}" for key, value in counts_of_step(name, record).items())
            kernels = Counter(launch.kernel.name for launch in record.launches) if each else {}
            for kernel, count in Counter(kernels).most_common():
                yield f"  {count:5} {kernel}"


def run(options: argparse.Namespace) -> None:
    """Count and print."""
    for line in report(options.json, options.each):
        print(line)
