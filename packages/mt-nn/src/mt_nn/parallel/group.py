"""Groups of ranks and their collective operations.

A program started several times by MPI (`mpiexec -n 4 python train.py`) consists of several ranks,
which communicate through their group (`mpi.py`). All ranks must call the same operations in the
same order; each operation has a name for messages. A single process has a group of one rank.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from mt_nn.errors import RankError
from mt_tensor.extending import Array

T = TypeVar("T")


class Pending(NamedTuple):
    """A sum that was started but may not be complete.

    Attributes:
        wait: a function that waits until the sum is complete.
        progress: a function that lets MPI make progress, without waiting.
    """

    wait: Callable[[], Any] = lambda: None
    progress: Callable[[], Any] = lambda: None


class Group:
    """A group of one rank, and the interface of larger ones.

    Attributes:
        rank: the index of this rank, from 0.
        size: the number of ranks.
    """

    rank = 0
    size = 1

    def start_sum(self, buffer: Array, what: str) -> Pending:
        """Start to replace a buffer with its sum over all ranks.

        Args:
            buffer: contiguous, with the same shape and dtype on all ranks; it must not be used
                before the sum is complete.
            what: a description for messages.
        """
        return Pending()

    def sum(self, buffer: Array, what: str) -> None:
        """Replace a buffer with its sum over all ranks; see `start_sum`."""
        self.start_sum(buffer, what).wait()

    def broadcast(self, buffer: Array, what: str, root: int = 0) -> None:
        """Replace a buffer with that of the rank `root`; see `start_sum`."""

    def gather(self, value: T, what: str) -> list[T]:
        """Return the values of all ranks, in order; they must support pickling."""
        return [value]

    def barrier(self) -> None:
        """Wait until all ranks have called this method."""
        self.gather(None, "barrier")

    def raised(self, error: BaseException) -> None:
        """Report an error that ends this rank; end all other ranks, too."""


def check_same(group: Group, what: str, lines: list[str]) -> None:
    """Check that all ranks have the same lines of text.

    Raises:
        RankError: the lines differ; raised on all ranks.
    """
    first, *others = group.gather(lines, f"comparison of {what}")
    for rank, other in enumerate(others, 1):
        for expected, found in itertools.zip_longest(first, other, fillvalue="nothing"):
            if expected != found:
                raise RankError(
                    f"the {what} of rank {rank} differ from those of rank 0, first in {found} "
                    f"instead of {expected}. All ranks must run the same program."
                )
