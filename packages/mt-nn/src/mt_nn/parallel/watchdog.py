"""A time limit for waiting for other ranks, so that no program hangs.

A thread checks the time, because the main thread is inside MPI. After a timeout the rank prints the
name of the operation to standard error and ends the program.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mt_nn.utils.settings import check

VARIABLE = "MT_RANK_TIMEOUT"
"""The environment variable with the timeout in seconds."""

DEFAULT_TIMEOUT = 300.0


def timeout_setting() -> float:
    """Return the timeout in seconds.

    Raises:
        SettingError: the environment variable is not a positive number.
    """
    text = os.environ.get(VARIABLE, str(DEFAULT_TIMEOUT))
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    check(VARIABLE, text, 0 < seconds < float("inf"), "a positive number of seconds")
    return seconds


class Watchdog:
    """Number the operations of a rank, and measure the time that it waits in them.

    Args:
        timeout: see `timeout_setting`.
        end: called in another thread with a message after a timeout.

    Attributes:
        last: a description of the last operation.
    """

    def __init__(self, timeout: float, end: Callable[[str], None]) -> None:
        self.last = "before its first operation"
        self._timeout, self._end = timeout, end
        self._count = 0
        self._waiting: tuple[str, float] | None = None
        threading.Thread(target=self._run, name="watchdog", daemon=True).start()

    def begin(self, what: str) -> str:
        """Number an operation, and return its name for messages."""
        self._count += 1
        name = f"operation {self._count}, {what}"
        self.last = f"after {name}"
        return name

    @contextmanager
    def waiting(self, name: str) -> Iterator[None]:
        """Measure the time that the rank waits for others in an operation."""
        self._waiting = name, time.monotonic()
        try:
            yield
        finally:
            self._waiting = None

    def _run(self) -> None:
        while True:
            time.sleep(min(1.0, self._timeout / 4))
            if (waits := self._waiting) is not None:
                name, start = waits
                if time.monotonic() - start > self._timeout:
                    self._end(f"has waited {self._timeout:g} s for other ranks in {name}")
