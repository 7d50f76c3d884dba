"""Check processors, memory, threads and the compiler."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mt.doctor.backends import run_probe
from mt.doctor.findings import Finding, fault, fine, note
from mt.doctor.packages import install, installed, repair

CGROUP = Path("/sys/fs/cgroup")
"""The folder in which Linux lists the limits of a container."""

LITTLE = 2**30
"""The memory in bytes below which tests and trainings are likely to fail."""

TRIAL = """
import json, numba
import mt_tensor as mt
from mt_fast.vectors.processor import REGISTERS, VECTOR_BYTES
with mt.use_backend("fast"):
    (mt.ones(1 << 20) + 1.0).sum().item()  # starts the threads
found = [8 * VECTOR_BYTES, REGISTERS, numba.get_num_threads(), numba.threading_layer()]
print(json.dumps(found))
"""


def check_processors() -> Iterator[Finding]:
    """Check processors and memory, and the limits of a container."""
    count = processors()
    text = f"{count} of {os.cpu_count()} are available"
    match _limit("cpu.max"):
        case [quota, period] if int(quota) < count * int(period):
            limit = int(quota) / int(period)
            fix = f"export NUMBA_NUM_THREADS={max(1, int(limit))}"
            yield note("processors", f"{text}, but the container is limited to {limit:.1f}", fix)
        case _:
            yield fine("processors", text)
    match _limit("memory.max"):
        case [most] if int(most) < LITTLE:
            text = f"the container is limited to {int(most) / 2**20:,.0f} MiB"
            yield note("memory", text, "give the container at least 2 GiB")


def processors() -> int:
    """Return the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _limit(name: str) -> list[str]:
    """Return the numbers in a file of the control group; empty if there is no limit."""
    try:
        words = (CGROUP / name).read_text(encoding="ascii").split()
    except OSError:
        return []
    return words if all(map(str.isdecimal, words)) else []


def check_compiler() -> Iterator[Finding]:
    """Compile and run a parallel loop with mt-fast, in a child process."""
    if not (installed("numba") and installed("mt-fast")):
        return  # the check of stages has reported it
    status, rows, stderr = run_probe(TRIAL)
    if status or not rows:
        text = f"cannot compile and run a loop ({stderr or f'status {status}'})"
        yield fault("compiler", text, repair("numba"))
        return
    bits, registers, threads, layer = rows[0]
    yield fine("vectors", f"{bits} bits, {registers} registers")
    text = f"{threads} threads of Numba, layer {layer}"
    slow = layer == "workqueue"
    yield note("threads", f"{text}, the slowest", install("tbb")) if slow else fine("threads", text)
