"""A rank's side of the watch: which operations it has begun, said to the watcher as time goes by.

A thread says it, for the rank may be computing, or waiting for others. When it is told that a fault
has been found somewhere, it ends the process: MPI cannot go on without a rank.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mt_nn.errors import SettingError
from mt_nn.parallel import watcher
from mt_nn.parallel.watcher import REMEMBERED

VARIABLE = "MT_RANK_TIMEOUT"
"""The environment variable that says how many seconds a rank may keep others waiting."""

DEFAULT_TIMEOUT = 300.0

GRACE = 5.0
"""How many seconds a rank that raised an error waits for the watcher, which is to speak first."""

RECENT = 0.05
"""How many seconds the watcher's knowledge may be behind when an operation begins."""


def timeout_wanted() -> float:
    """Return how many seconds a rank may be silent, or keep others waiting.

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


def start_watcher(size: int, timeout: float, host: str) -> tuple[str, int, str]:
    """Start the watcher of so many ranks; return host, port and token to connect with.

    Args:
        size: how many ranks there are.
        timeout: see `timeout_wanted`.
        host: the name or address by which this machine can be reached from all ranks.
    """
    token = secrets.token_hex(16)
    with socket.create_server((host, 0), backlog=size) as listener:
        number = listener.fileno()
        program = [sys.executable, "-S", str(Path(watcher.__file__))]
        _started.append(
            subprocess.Popen(
                [*program, str(number), str(size), token, str(timeout)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[number],
                start_new_session=True,  # MPI ends the group of processes that its ranks are in
            )
        )
        return host, listener.getsockname()[1], token


_started: list[subprocess.Popen[bytes]] = []
"""Watchers of this process, which outlive it: nobody waits for them."""


class Watch:
    """Tells the watcher what a rank does.

    Args:
        rank: the rank.
        address: host, port and token of the watcher.
        timeout: see `timeout_wanted`.
    """

    def __init__(self, rank: int, address: tuple[str, int, str], timeout: float) -> None:
        host, port, token = address
        self._operations: dict[int, str] = {}
        self._count = 0
        self._waits: tuple[int, float] | None = None
        self._connection = socket.create_connection((host, port), timeout)
        self._sending = threading.Lock()
        self._reported = 0.0
        self._closed = False
        place = f"process {os.getpid()} on {socket.gethostname()}"
        self._send({"rank": rank, "place": place}, token)
        self._connection.recv(64)  # the watcher has begun
        self._connection.settimeout(min(1.0, timeout / 4))
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def begin(self, what: str) -> int:
        """Note that an operation begins, and return its number."""
        self._count += 1
        self._operations[self._count] = what
        self._operations.pop(self._count - REMEMBERED, None)
        if time.monotonic() - self._reported > RECENT:
            self._report()
        return self._count

    @contextmanager
    def waiting(self, number: int) -> Iterator[None]:
        """Note that the rank waits for others in an operation, in a `with` block."""
        self._waits = (number, time.monotonic())
        yield  # where an error leaves the block, the rank still is in the operation
        self._waits = None

    def raised(self, error: BaseException) -> None:
        """Tell that an error ends the rank, and wait until the watcher ends it, for a while."""
        text = " ".join(str(error).split())
        self._report(raised=f"{type(error).__name__}: {text}" if text else type(error).__name__)
        self._thread.join(GRACE)

    def close(self) -> None:
        """Tell that the rank ends, and no more than that."""
        if not self._closed:
            self._report(ended=True)
            self._closed = True
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)

    def _report(self, ended: bool = False, raised: str = "") -> None:
        self._reported, waits = time.monotonic(), self._waits
        self._send(
            {
                "operations": dict(self._operations),
                "waits": waits and (waits[0], time.monotonic() - waits[1]),
                "ended": ended,
                "raised": raised,
            }
        )

    def _send(self, message: dict[str, Any], before: str = "") -> None:
        with self._sending, suppress(OSError):  # without a watcher, ranks do not watch each other
            self._connection.sendall(f"{before}{json.dumps(message)}\n".encode())

    def _run(self) -> None:
        """Report again and again, and end the process when that is wanted."""
        with self._connection:
            while not self._closed:
                try:
                    heard = self._connection.recv(64)
                except TimeoutError:
                    self._report()
                except OSError:
                    return
                else:
                    if heard:
                        sys.stdout.flush()
                        os._exit(1)
                    return
