"""The ranks of a program as a group: sums of arrays, and values that one or all of them give.

A program that MPI has started several times (`mpiexec -n 4 python train.py`) is one of several
ranks, and their group is how they talk (`mpi.py`). All ranks must do the same operations in the
same order; each has a name, by which messages call it. A program that runs alone has a group, too,
of one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

from mt_nn.errors import RankError
from mt_tensor.extending import Array

T = TypeVar("T")


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
    """

    rank = 0
    size = 1

    @property
    def waited(self) -> float:
        """How many seconds this rank has waited for others."""
        return 0.0

    def start_sum(self, buffer: Array, what: str) -> Pending:
        """Begin to replace a buffer by its sum over all ranks.

        Args:
            buffer: contiguous, and of the same shape and dtype on all ranks; it must not be
                used before the sum is complete.
            what: what is added up, for messages.
        """
        return Pending()

    def sum(self, buffer: Array, what: str) -> None:
        """Replace a buffer by its sum over all ranks; the arguments are those of `start_sum`."""
        self.start_sum(buffer, what).wait()

    def broadcast(self, buffer: Array, what: str, root: int = 0) -> None:
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
