"""The ranks that MPI has started, by mpi4py: to import this module is to start MPI.

What is sent lies in host memory. Each operation has a number, and `watch.py` limits how long a rank
waits in one.
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
from mt_nn.parallel.group import Group, Pending, agree
from mt_nn.parallel.watch import Watch, timeout_wanted
from mt_tensor.extending import Array

T = TypeVar("T")

GRACE = 1.0
"""How many seconds a rank that has waited in vain leaves the others, to report as well."""


def all_ranks() -> Group:
    """Return the group of all ranks that MPI has started."""
    return MPIGroup(MPI.COMM_WORLD) if MPI.COMM_WORLD.size > 1 else Group()


class MPIGroup(Group):
    """All ranks that MPI has started.

    Args:
        communicator: theirs, of mpi4py.

    Raises:
        RankError: the ranks run other versions of Python or NumPy, or of these packages.
    """

    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator
        self.rank, self.size = communicator.rank, communicator.size
        self._watch = Watch(timeout_wanted(), self._waited_in_vain)
        self._report_errors()
        agree(self, "versions", _versions())

    @property
    def waited(self) -> float:
        """How many seconds this rank has waited for others."""
        return self._watch.waited

    def start_sum(self, buffer: Array, what: str) -> Pending:
        """Begin to replace a buffer by its sum over all ranks."""
        name = self._begin(buffer, what)
        request = self._communicator.Iallreduce(MPI.IN_PLACE, buffer)

        def finish() -> None:
            with self._watch.waiting(name):
                request.Wait()

        return Pending(finish, request.Test)

    def broadcast(self, buffer: Array, what: str, root: int = 0) -> None:
        """Replace a buffer by that of one rank."""
        with self._watch.waiting(self._begin(buffer, what)):
            self._communicator.Bcast(buffer, root)

    def _begin(self, buffer: Array, what: str) -> str:
        return self._watch.begin(f"{what} ({math.prod(buffer.shape)} of {buffer.dtype.name})")

    def gather(self, value: T, what: str) -> list[T]:
        """Return the values that all ranks have given, in order."""
        with self._watch.waiting(self._watch.begin(what)):
            values: list[T] = self._communicator.allgather(value)
        return values

    def raised(self, error: BaseException) -> None:
        """Report an error, and end all ranks: an ordinary end would wait for the others."""
        text = " ".join(str(error).split())
        kind = type(error).__name__
        self._report(f"raised {f'{kind}: {text}' if text else kind} {self._watch.last}")
        self._communicator.Abort(1)

    def _waited_in_vain(self, problem: str) -> None:
        self._report(f"{problem}. A rank that reports nothing, or another operation, is the cause")
        time.sleep(GRACE)
        self._communicator.Abort(1)

    def _report(self, problem: str) -> None:
        place = f"process {os.getpid()} on {socket.gethostname()}"
        sys.stdout.flush()
        line = f"mt_nn.parallel: rank {self.rank} ({place}) {problem}. All ranks end."
        print(line, file=sys.stderr, flush=True)

    def _report_errors(self) -> None:
        """Let an error that ends the program end the other ranks, too."""
        shown = sys.excepthook

        def report(kind: type[BaseException], error: BaseException, trace: Any) -> None:
            shown(kind, error, trace)
            self.raised(error)

        sys.excepthook = report


def _versions() -> list[str]:
    return [
        f"Python {platform.python_version()}",
        f"NumPy {np.__version__}",
        f"mt-tensor {mt_tensor.__version__}",
        f"mt-nn {mt_nn.__version__}",
    ]
