"""The ranks that MPI has started, by mpi4py: to import this module is to start MPI.

What is sent lies in host memory, unless a link is to take it from that of GPUs (`devices.py`). Each
operation has a number, too, and the watch (`watch.py`) tells which rank keeps others waiting.
"""

from __future__ import annotations

import atexit
import math
import os
import platform
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

import mt_nn
import mt_tensor
from mt_nn.errors import RankError
from mt_nn.parallel.devices import VARIABLE, DeviceLink, on_gpu, wanted_link, wanted_name
from mt_nn.parallel.group import Buffer, Group, Pending, agree
from mt_nn.parallel.watch import Watch, start_watcher, timeout_wanted
from mt_tensor import Tensor
from mt_tensor.backends import TensorBackend

T = TypeVar("T")


def all_ranks() -> Group:
    """Return the group of all ranks that MPI has started."""
    return MPIGroup(MPI.COMM_WORLD) if MPI.COMM_WORLD.size > 1 else Group()


class MPIGroup(Group):
    """All ranks that MPI has started.

    Args:
        communicator: theirs, of mpi4py.

    Raises:
        MissingPackageError: there is no link such as `MT_RANK_LINK` names.
        RankError: the ranks run other versions of Python or NumPy, or of these packages, or send in
            other ways; or one cannot reach the others.
        SettingError: `MT_RANK_LINK` names none.
    """

    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator
        self.rank, self.size = communicator.rank, communicator.size
        timeout = timeout_wanted()
        host = _common_host(communicator)
        address = start_watcher(self.size, timeout, host) if self.rank == 0 else None
        address = communicator.bcast(address)
        try:
            self._watch = Watch(self.rank, address, timeout)
        except OSError as error:
            raise RankError(
                f"rank {self.rank} on {socket.gethostname()} cannot reach rank 0 at {address[0]}, "
                f"port {address[1]} ({error.strerror or error})."
            ) from error
        atexit.register(self._watch.close)
        self._report_errors()
        self._link = wanted_link(communicator, MPI)
        agree(self, "versions", [*_versions(), f"{VARIABLE}={wanted_name()}"])

    def reaches(self, backend: TensorBackend) -> bool:
        """Whether tensors of a backend can be sent although they lie in no array of the host."""
        return self._link is not None and on_gpu(backend)

    def start_sum(self, buffer: Buffer, what: str) -> Pending:
        """Begin to replace a buffer by its sum over all ranks."""
        number = self._begin(buffer, what)
        if isinstance(buffer, Tensor):
            started = self._over_link().start_sum(buffer)
        else:
            request = self._communicator.Iallreduce(MPI.IN_PLACE, buffer)
            started = Pending(request.Wait, request.Test)

        def finish() -> None:
            with self._waiting(number):
                started.wait()

        return Pending(finish, started.progress)

    def broadcast(self, buffer: Buffer, what: str, root: int = 0) -> None:
        """Replace a buffer by that of one rank."""
        with self._waiting(self._begin(buffer, what)):
            if isinstance(buffer, Tensor):
                self._over_link().start_broadcast(buffer, root).wait()
            else:
                self._communicator.Bcast(buffer, root)

    def _begin(self, buffer: Buffer, what: str) -> int:
        """Return the number of an operation on a buffer, of which the watch has been told."""
        return self._watch.begin(f"{what} ({math.prod(buffer.shape)} of {buffer.dtype.name})")

    def _over_link(self) -> DeviceLink:
        if self._link is None:
            raise RankError("a tensor on a GPU was to be sent, but there is no link between GPUs.")
        return self._link

    def gather(self, value: T, what: str) -> list[T]:
        """Return the values that all ranks have given, in order."""
        with self._waiting(self._watch.begin(what)):
            values: list[T] = self._communicator.allgather(value)
        return values

    @contextmanager
    def _waiting(self, number: int) -> Iterator[None]:
        """Let the watch know that this rank waits in an operation, and count the time."""
        began = time.perf_counter()
        with self._watch.waiting(number):
            yield
        self.waited += time.perf_counter() - began

    def raised(self, error: BaseException) -> None:
        """Tell the watch, and end: an ordinary end would wait for ranks that wait for this one."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._watch.raised(error)
        os._exit(1)

    def _report_errors(self) -> None:
        """Let an error that ends the program end the other ranks, too."""
        shown = sys.excepthook

        def report(kind: type[BaseException], error: BaseException, trace: Any) -> None:
            shown(kind, error, trace)
            self.raised(error)

        sys.excepthook = report


def _common_host(communicator: Any) -> str:
    """Return a name of rank 0's host that all ranks know it by."""
    hosts = communicator.allgather(socket.gethostname())
    return "127.0.0.1" if len(set(hosts)) == 1 else hosts[0]


def _versions() -> list[str]:
    return [
        f"Python {platform.python_version()}",
        f"NumPy {np.__version__}",
        f"mt-tensor {mt_tensor.__version__}",
        f"mt-nn {mt_nn.__version__}",
    ]
