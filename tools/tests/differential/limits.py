"""Limits for programs, whose random settings can demand any amount of memory and time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECONDS = 20
"""The CPU time after which the process of a program is killed; pytest-xdist reports that."""

MEMORY = 2**30
"""The memory that a program may allocate, in bytes."""


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Limit the memory and the CPU time of a program, where the system supports it.

    Args:
        seconds: the CPU time; 0 for no limit.
    """
    try:
        import resource
    except ImportError:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)
