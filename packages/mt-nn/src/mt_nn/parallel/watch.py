"""Limit how long a rank may wait for the others, so that no program hangs for ever.

A thread looks at the clock, because the rank itself is inside MPI. After too long a wait the rank
names the operation on the error stream and ends the program.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mt_nn.errors import SettingError

VARIABLE = "MT_RANK_TIMEOUT"
"""The environment variable with the number of seconds that a rank may wait for others."""

DEFAULT_TIMEOUT = 300.0


def timeout_wanted() -> float:
    """Return how many seconds a rank may wait for others.

    Raises:
        SettingError: the environment variable is no positive number.
    """
    text = os.environ.get(VARIABLE, str(DEFAULT_TIMEOUT))
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise SettingError(f"{VARIABLE} must be a positive number of seconds; it is {text!r}.")
    return seconds


class Watch:
    """Number the operations of a rank, and measure how long it waits in them.

    Args:
        timeout: see `timeout_wanted`.
        end: called in another thread with a sentence if a wait takes longer.

    Attributes:
        waited: how many seconds the rank has waited for others.
        last: the last operation in words.
    """

    def __init__(self, timeout: float, end: Callable[[str], None]) -> None:
        self.waited = 0.0
        self.last = "before its first operation"
        self._timeout, self._end = timeout, end
        self._count = 0
        self._waits: tuple[str, float] | None = None
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def begin(self, what: str) -> str:
        """Number an operation, and return its name for messages."""
        self._count += 1
        name = f"operation {self._count}, {what}"
        self.last = f"after {name}"
        return name

    @contextmanager
    def waiting(self, name: str) -> Iterator[None]:
        """Measure the time in which the rank waits for others in an operation."""
        began = time.monotonic()
        self._waits = name, began
        try:
            yield
        finally:
            self._waits = None
            self.waited += time.monotonic() - began

    def _run(self) -> None:
        while True:
            time.sleep(min(1.0, self._timeout / 4))
            if (waits := self._waits) is not None:
                name, began = waits
                if time.monotonic() - began > self._timeout:
                    self._end(f"has waited {self._timeout:g} s for other ranks in {name}")
