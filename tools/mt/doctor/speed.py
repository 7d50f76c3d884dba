"""Check processors, memory, threads and the compiler."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mt.doctor.findings import Finding, fault, fine, note
from mt.doctor.imports import answers
from mt.doctor.packages import install, installed, repair
from mt.workspace import Workspace

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
print(json.dumps({
    "bits": 8 * VECTOR_BYTES, "registers": REGISTERS,
    "threads": numba.get_num_threads(), "layer": numba.threading_layer(),
}))
"""


def check_processors() -> Iterator[Finding]:
    """Check processors and memory, and the limits of a container."""
    count = processors()
    text = f"{count} of {os.cpu_count()} are available"
    quota = _quota()
    if quota is not None and quota < count:
        fix = f"export NUMBA_NUM_THREADS={max(1, int(quota))}"
        yield note("processors", f"{text}, but the container is limited to {quota:.1f}", fix)
    else:
        yield fine("processors", text)
    allowed = _memory()
    if allowed is not None and allowed < LITTLE:
        text = f"the container is limited to {allowed / 2**20:,.0f} MiB"
        yield note("memory", text, "give the container at least 2 GiB")


def processors() -> int:
    """Return the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _quota() -> float | None:
    """Return the CPU limit of a container, in processors; None if there is none."""
    most, period = [*_words("cpu.max"), "", ""][:2]
    if not most:  # version 1 of control groups
        most = "".join(_words("cpu/cpu.cfs_quota_us"))
        period = "".join(_words("cpu/cpu.cfs_period_us"))
    limited = most.isdecimal() and period.isdecimal() and int(period) > 0
    return int(most) / int(period) if limited else None


def _memory() -> int | None:
    """Return the memory limit of a container, in bytes; None if there is none."""
    words = _words("memory.max") or _words("memory/memory.limit_in_bytes")
    return int(words[0]) if words and words[0].isdecimal() else None


def _words(name: str) -> list[str]:
    """Return the words in a file of the control group; empty if it does not exist."""
    try:
        return (CGROUP / name).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []


def check_compiler(workspace: Workspace) -> Iterator[Finding]:
    """Compile and run a parallel loop with mt-fast, in a child process."""
    if not (installed("numba") and installed("mt-fast")):
        return  # the check of stages has reported it
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return  # the check of settings has reported it
    status, lines, stderr = answers(TRIAL)
    if status or not lines:
        text = f"cannot compile and run a loop ({stderr or f'status {status}'})"
        yield fault("compiler", text, repair(workspace, "numba"))
        return
    found = lines[0]
    yield fine("vectors", f"{found['bits']} bits, {found['registers']} registers")
    text = f"{found['threads']} threads of Numba, layer {found['layer']}"
    if found["layer"] == "workqueue":
        yield note("threads", f"{text}, the slowest", install("tbb"))
    else:
        yield fine("threads", text)
