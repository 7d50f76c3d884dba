"""`mt bench launches`: how often training steps launch, copy and wait, counted without a GPU."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from mt.bench.comparison import names_of
from mt.bench.libraries import library
from mt.bench.workloads import WORKLOADS
from mt_cuda import CudaOps
from mt_cuda.recording import Record, Recorder
from mt_tensor import use_backend


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


def recorded_step(name: str) -> Record:
    """Return the record of a workload."""
    return recorded(partial(WORKLOADS[name].make, library("mt_tensor", 1)))


def run(options: argparse.Namespace) -> None:
    """Print the counts of each step and, if requested, its kernels, most frequent first."""
    for name in names_of("steps", options.pattern):
        record = recorded_step(name)
        counts = (
            f"{len(record.launches)} launches",
            f"large ones of at least {record.least_blocks()} blocks",
            f"{record.allocations} allocations",
            f"{record.uploads} uploads",
            f"{record.downloads} downloads",
            f"{record.synchronisations} synchronisations",
        )
        print(f"{name}: {', '.join(counts)}")
        kernels = Counter(launch.kernel.name for launch in record.launches if options.each)
        for kernel, count in kernels.most_common():
            print(f"  {count:5} {kernel}")
