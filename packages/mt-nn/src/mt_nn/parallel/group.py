"""The ranks of a program as a group: sums of arrays, and values that one or all of them give.

A program that MPI has started several times (`mpiexec -n 4 python train.py`) is one of several
ranks, and their group is how they talk (`mpi.py`). All ranks must do the same operations in the
same order; each has a name, by which messages call it. A program that runs alone has a group, too,
of one.

"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from mt_nn.errors import MissingPackageError, RankError
from mt_tensor import Tensor
from mt_tensor.backends import TensorBackend
from mt_tensor.extending import Array

T = TypeVar("T")

Buffer: TypeAlias = "Array | Tensor"
"""What is sent: an array of the host, or a tensor of a backend that the group reaches. It is
contiguous, and of the same shape and dtype on all ranks."""


class Pending:
    """A sum that has begun.

    Args:
        finish: waits until it is there.
        progress: gives MPI a moment to go on with it.
    """

    def __init__(
        self, finish: Callable[[], None] | None = None, progress: Callable[[], Any] | None = None
    ) -> None:
        self._finish, self._progress = finish, progress

    def progress(self) -> None:
        """Let the sum go on for a moment, without waiting for it."""
        if self._progress is not None:
            self._progress()

    def wait(self) -> None:
        """Return when the sum is there."""
        if self._finish is not None:
            finish, self._finish, self._progress = self._finish, None, None
            finish()


class Group:
    """A group of one rank, and what larger ones offer.

    Attributes:
        rank: the number of this rank, from 0.
        size: how many there are.
        waited: how many seconds this rank has waited for others.
    """

    rank = 0
    size = 1
    waited = 0.0

    def reaches(self, backend: TensorBackend) -> bool:
        """Whether tensors of a backend can be sent although they lie in no array of the host."""
        return False

    def start_sum(self, buffer: Buffer, what: str) -> Pending:
        """Begin to replace a buffer by its sum over all ranks.

        Args:
            buffer: nobody may touch it before the sum is there.
            what: what is added up, for messages.
        """
        return Pending()

    def sum(self, buffer: Buffer, what: str) -> None:
        """Replace a buffer by its sum over all ranks; the arguments are those of `start_sum`."""
        self.start_sum(buffer, what).wait()

    def broadcast(self, buffer: Buffer, what: str, root: int = 0) -> None:
        """Replace a buffer by that of one rank, `root`; see `start_sum`."""

    def gather(self, value: T, what: str) -> list[T]:
        """Return the values that all ranks have given, in order: anything that can be pickled."""
        return [value]

    def barrier(self) -> None:
        """Return when all ranks have called this."""
        self.gather(None, "barrier")

    def raised(self, error: BaseException) -> None:
        """Tell that an error ends this rank; on several ranks, end all of them."""


def agree(group: Group, what: str, value: list[str]) -> None:
    """Check that all ranks have the same lines.

    Raises:
        RankError: they do not, on all of them.
    """
    first, *others = group.gather(value, f"comparison of {what}")
    for rank, theirs in enumerate(others, 1):
        for mine, its in itertools.zip_longest(first, theirs, fillvalue="nothing"):
            if mine != its:
                raise RankError(
                    f"the {what} of rank {rank} are not those of rank 0: the first that differs is "
                    f"{its} there, and {mine} here. All ranks must run the same program."
                )


# --- The group of this program --------------------------------------------------------------------


STARTED_BY_MPI = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
"""Environment variables that a process has which MPI has started."""


@functools.cache
def world() -> Group:
    """Return the group of all ranks of this program.

    Raises:
        MissingPackageError: MPI has started the program, but mpi4py is not installed.
        RankError: the ranks run other versions of Python, NumPy or these packages.
    """
    if not any(name in os.environ for name in STARTED_BY_MPI):
        return Group()
    try:
        from mt_nn.parallel.mpi import all_ranks
    except ImportError as error:
        raise MissingPackageError(
            "this program was started by MPI, which takes mpi4py: pip install 'mt-nn[mpi]'"
        ) from error
    return all_ranks()
