"""Groups of ranks that communicate with mpi4py; importing this module initializes MPI.

Buffers are in host memory. Operations are numbered, and `watchdog.py` limits the time that a rank
waits in one of them.
"""

from __future__ import annotations

import math
import os
import platform
import socket
import sys
import time
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

import mt_nn
import mt_tensor
from mt_nn.parallel.group import Group, Pending, check_same
from mt_nn.parallel.watchdog import Watchdog, timeout_setting
from mt_tensor.extending import Array

T = TypeVar("T")

GRACE = 1.0
"""The seconds that a rank waits after a timeout, so that other ranks can report theirs."""


class MPIGroup(Group):
    """A group of several ranks.

    Args:
        communicator: the communicator of mpi4py.

    Raises:
        RankError: the ranks run different versions of Python, NumPy or these packages.
    """

    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator
        self.rank, self.size = communicator.rank, communicator.size
        self._watchdog = Watchdog(timeout_setting(), self._on_timeout)
        self._report_errors()
        check_same(self, "versions", _versions())

    def start_sum(self, buffer: Array, what: str) -> Pending:
        """Start to replace a buffer with its sum over all ranks."""
        name = self._begin(buffer, what)
        request = self._communicator.Iallreduce(MPI.IN_PLACE, buffer)

        def finish() -> None:
            with self._watchdog.waiting(name):
                request.Wait()

        return Pending(finish, request.Test)

    def broadcast(self, buffer: Array, what: str, root: int = 0) -> None:
        """Replace a buffer with that of the rank `root`."""
        with self._watchdog.waiting(self._begin(buffer, what)):
            self._communicator.Bcast(buffer, root)

    def _begin(self, buffer: Array, what: str) -> str:
        return self._watchdog.begin(f"{what} ({math.prod(buffer.shape)} of {buffer.dtype.name})")

    def gather(self, value: T, what: str) -> list[T]:
        """Return the values of all ranks, in order."""
        with self._watchdog.waiting(self._watchdog.begin(what)):
            values: list[T] = self._communicator.allgather(value)
        return values

    def raised(self, error: BaseException) -> None:
        """Report an error, and abort all ranks; a normal exit would wait for the others."""
        text = " ".join(str(error).split())
        kind = type(error).__name__
        self._report(f"raised {f'{kind}: {text}' if text else kind} {self._watchdog.last}")
        self._communicator.Abort(1)

    def _on_timeout(self, problem: str) -> None:
        cause = "The cause is a rank that reports nothing, or is in another operation"
        self._report(f"{problem}. {cause}")
        time.sleep(GRACE)
        self._communicator.Abort(1)

    def _report(self, problem: str) -> None:
        process = f"process {os.getpid()} on {socket.gethostname()}"
        sys.stdout.flush()
        line = f"mt_nn.parallel: rank {self.rank} ({process}) {problem}. All ranks end."
        print(line, file=sys.stderr, flush=True)

    def _report_errors(self) -> None:
        """Abort all ranks when an uncaught error ends this one."""
        previous_hook = sys.excepthook

        def report(kind: type[BaseException], error: BaseException, trace: Any) -> None:
            previous_hook(kind, error, trace)
            self.raised(error)

        sys.excepthook = report


def _versions() -> list[str]:
    return [
        f"Python {platform.python_version()}",
        f"NumPy {np.__version__}",
        f"mt-tensor {mt_tensor.__version__}",
        f"mt-nn {mt_nn.__version__}",
    ]
