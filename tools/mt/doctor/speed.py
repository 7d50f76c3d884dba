"""What decides how fast it is here: processors, memory, threads and the compiler."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from mt.doctor.findings import Finding, fault, fine, note
from mt.doctor.imports import answers
from mt.doctor.packages import install, installed, repair
from mt.workspace import Workspace

CGROUP = Path("/sys/fs/cgroup")
"""Where Linux says what a container may use."""

LITTLE = 2**30
"""Bytes of memory that tests and trainings hardly fit into."""

TRIAL = """
import json, numba
import mt_tensor as mt
from mt_fast.vectors.processor import REGISTERS, VECTOR_BYTES
with mt.use_backend("fast"):
    (mt.ones(1 << 20) + 1.0).sum().item()  # so that threads have started
print(json.dumps({
    "bits": 8 * VECTOR_BYTES, "registers": REGISTERS,
    "threads": numba.get_num_threads(), "layer": numba.threading_layer(),
}))
"""


def check_processors() -> Iterator[Finding]:
    """Look at processors and memory, and at what a container allows of them."""
    count = processors()
    text = f"{count} of {os.cpu_count()} may be used"
    quota = _quota()
    if quota is not None and quota < count:
        cure = f"export NUMBA_NUM_THREADS={max(1, int(quota))}"
        yield note("processors", f"{text}, but a container allows the time of {quota:.1f}", cure)
    else:
        yield fine("processors", text)
    allowed = _memory()
    if allowed is not None and allowed < LITTLE:
        text = f"a container allows {allowed / 2**20:,.0f} MiB"
        yield note("memory", text, "give the container at least 2 GiB")


def processors() -> int:
    """Return on how many processors this process may run."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _quota() -> float | None:
    """Return how many processors' time a container may use; None if it is not limited."""
    most, period = [*_words("cpu.max"), "", ""][:2]
    if not most:  # the first version of control groups
        most = "".join(_words("cpu/cpu.cfs_quota_us"))
        period = "".join(_words("cpu/cpu.cfs_period_us"))
    limited = most.isdecimal() and period.isdecimal() and int(period) > 0
    return int(most) / int(period) if limited else None


def _memory() -> int | None:
    """Return how many bytes a container may use; None if it is not limited."""
    words = _words("memory.max") or _words("memory/memory.limit_in_bytes")
    return int(words[0]) if words and words[0].isdecimal() else None


def _words(name: str) -> list[str]:
    """Return what a file of the control group holds; nothing if there is none."""
    try:
        return (CGROUP / name).read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return []


def check_compiler(workspace: Workspace) -> Iterator[Finding]:
    """Let mt-fast compile and run a loop on threads, in a process of its own."""
    if not (installed("numba") and installed("mt-fast")):
        return  # said of the stage
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return  # said of the setting
    status, lines, said = answers(TRIAL)
    if status or not lines:
        text = f"no loop can be compiled and run ({said or f'status {status}'})"
        yield fault("compiler", text, repair(workspace, "numba"))
        return
    found = lines[0]
    yield fine("vectors", f"{found['bits']} bits, {found['registers']} registers")
    text = f"{found['threads']} of Numba's, layer {found['layer']}"
    if found["layer"] == "workqueue":
        yield note("threads", f"{text}, the slowest to wake", install("tbb"))
    else:
        yield fine("threads", text)
