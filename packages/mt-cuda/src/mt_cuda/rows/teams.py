"""Teams of threads: the threads of a team share a row, and a block has several teams.

The core's reductions use a whole block per row, or a single thread. Neither suits rows of a hundred
elements. A team is a power of two of threads: each visits every n-th element of the row, and they
combine their results in shared memory. Adjacent threads read adjacent elements: they are in one
team if a row is contiguous, and in adjacent teams if adjacent elements belong to adjacent rows.

A thread may keep its elements of a short row in registers: memory is read once, and all loads are
issued before the first is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt_cuda.core.kernel import Lines, indented


@dataclass(frozen=True, slots=True)
class Team:
    """The teams of a block.

    Attributes:
        size: the number of threads per team, a power of two.
        threads: the number of threads per block, a multiple of `size`.
        beside: whether adjacent threads process adjacent rows, not the same row.
        each: the maximum number of elements of a row per thread, which keeps all of them in
            registers; 0 if there are too many, so that they are read again.
    """

    size: int
    threads: int
    beside: bool = False
    each: int = 0

    @property
    def rows(self) -> int:
        """The number of rows per block."""
        return self.threads // self.size

    @property
    def name(self) -> str:
        """The suffix of the names of kernels for these teams."""
        kept = f"_of_{self.each}" if self.each else ""
        return f"{'beside' if self.beside else 'team'}{self.size}{kept}"

    def blocks(self, rows: int) -> int:
        """Return the number of blocks for `rows` rows."""
        return -(-rows // self.rows)

    def begin(self) -> Lines:
        """Return the lines that find the row of a thread, and its lane in the team."""
        quotient, rest = f"thread // {self._other}", f"thread % {self._other}"
        place, lane = (rest, quotient) if self.beside else (quotient, rest)
        return [
            "thread = cuda.threadIdx.x",
            f"row = cuda.blockIdx.x * {self.rows} + {place}",
            f"lane = {lane}",
        ]

    def fold(self, folds: Sequence[tuple[str, str, str]]) -> Lines:
        """Return the lines that combine the totals of a team, for all of its threads.

        Args:
            folds: for each total its variable, which receives the result; the name of the function
                that combines two totals; and a shared array with an element for each thread of the
                block.
        """
        if self.size == 1:
            return []
        step = self.rows if self.beside else 1
        lines = [f"{memory}[thread] = {total}" for total, _, memory in folds]
        lines.append("cuda.syncthreads()")
        distance = self.size // 2
        while distance:
            lines.append(f"if lane < {distance}:")
            for _, combine, memory in folds:
                other = f"{memory}[thread + {distance * step}]"
                lines.append(f"    {memory}[thread] = {combine}({memory}[thread], {other})")
            lines.append("cuda.syncthreads()")
            distance //= 2
        first = f"thread - lane * {step}" if self.beside else "thread - lane"
        lines += [f"{total} = {memory}[{first}]" for total, _, memory in folds]
        return [*lines, "cuda.syncthreads()"]  # the next reduction reuses the memory

    def visit(self, variable: str, begin: str, end: str, lines: Lines) -> Lines:
        """Return the loop of a team over its row from `begin` to `end`, exclusive."""
        return [
            "if row < rows:",
            f"    {variable} = {begin} + lane" if begin else f"    {variable} = lane",
            f"    while {variable} < {end}:",
            *indented(indented(lines)),
            f"        {variable} += {self.size}",
        ]

    def visit_kept(self, variable: str, end: str, lines: Lines) -> Lines:
        """Return the loop of `visit` from 0, unrolled; `k` is the index of a kept element."""
        return [
            "if row < rows:",
            f"    for k in range({self.each}):",
            f"        {variable} = lane + k * {self.size}",
            f"        if {variable} < {end}:",
            *indented(indented(indented(lines))),
        ]

    @property
    def _other(self) -> int:
        return self.rows if self.beside else self.size


SECTOR = 8
"""The minimum number of adjacent rows in a block: a GPU reads that many elements at once."""

BUSY = 2**15
"""The number of threads that keep a GPU busy."""

MOST = 16
"""The maximum number of elements of a row that a thread keeps."""


def team_for(length: int, threads: int) -> Team:
    """Return the teams for contiguous rows.

    A short row gets a warp: 32 threads read 128 bytes at once.

    Args:
        length: the number of elements of a row.
        threads: the number of threads per block.
    """
    size = 1 if length < 8 else min(32, threads)
    while size < threads and size * MOST < length:
        size *= 2
    return Team(size, threads)


def team_beside(rows: int, length: int, threads: int) -> Team:
    """Return the teams for rows side by side: few threads per row if there are many rows.

    Args:
        rows: the number of rows.
        length: the number of elements of a row.
        threads: the number of threads per block.
    """
    size = 1
    while size * SECTOR < threads and size * 4 <= length and size * rows < BUSY:
        size *= 2
    return Team(size, threads, beside=True)


def kept(length: int, size: int) -> int:
    """Return the number of elements that each thread keeps: a power of two, or 0 if too many."""
    each = 1 << (-(-length // size) - 1).bit_length()
    return each if each <= MOST else 0
