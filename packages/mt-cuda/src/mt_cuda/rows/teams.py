"""Threads that share the work on one row: as many as it is worth, and several rows in a block.

The lesson's reductions give a whole block to a row, or a single thread. Rows of a hundred elements
want neither. A team is a power of two of threads: they visit the row's elements in turns, and fold
what they found in shared memory. Neighbouring threads read neighbouring elements: they are of one
team where a row lies together, and of teams side by side where neighbouring rows do.

What a thread reads of a row that is not long it may keep in its registers, where it finds it again:
memory is read once, and all of it is on its way before the first is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt_cuda.core.kernel import Lines, indented


@dataclass(frozen=True, slots=True)
class Team:
    """The teams of a block.

    Attributes:
        size: threads of a team, a power of two.
        threads: threads of a block, a multiple of it.
        beside: whether neighbouring threads work on neighbouring rows, not on the same.
        each: how many elements of a row a thread has at most, all of which it keeps; 0 if they are
            too many, so that it reads them again.
    """

    size: int
    threads: int
    beside: bool = False
    each: int = 0

    @property
    def rows(self) -> int:
        """How many rows a block works on."""
        return self.threads // self.size

    @property
    def name(self) -> str:
        """What ends the names of kernels for these teams."""
        kept = f"_of_{self.each}" if self.each else ""
        return f"{'beside' if self.beside else 'team'}{self.size}{kept}"

    def blocks(self, rows: int) -> int:
        """Return how many blocks work on so many rows."""
        return -(-rows // self.rows)

    def begin(self) -> Lines:
        """Return the lines that find the row of a thread, and its place in the team."""
        quotient, rest = f"thread // {self._other}", f"thread % {self._other}"
        place, lane = (rest, quotient) if self.beside else (quotient, rest)
        return [
            "thread = cuda.threadIdx.x",
            f"row = cuda.blockIdx.x * {self.rows} + {place}",
            f"lane = {lane}",
        ]

    def fold(self, folds: Sequence[tuple[str, str, str]]) -> Lines:
        """Return the lines after which every thread has what the totals of its team make together.

        Args:
            folds: for each total the variable that each thread has it in, and gets the result in;
                the name of the function that makes one total of two; and a shared array with an
                element for each thread of the block.
        """
        if self.size == 1:
            return []
        step = self.rows if self.beside else 1
        lines = [f"{memory}[thread] = {total}" for total, _, memory in folds]
        lines.append("cuda.syncthreads()")
        apart = self.size // 2
        while apart:
            lines.append(f"if lane < {apart}:")
            for _, combine, memory in folds:
                other = f"{memory}[thread + {apart * step}]"
                lines.append(f"    {memory}[thread] = {combine}({memory}[thread], {other})")
            lines.append("cuda.syncthreads()")
            apart //= 2
        first = f"thread - lane * {step}" if self.beside else "thread - lane"
        lines += [f"{total} = {memory}[{first}]" for total, _, memory in folds]
        return [*lines, "cuda.syncthreads()"]  # for the memory is used again by the next fold

    def visit(self, variable: str, begin: str, end: str, lines: Lines) -> Lines:
        """Return the loop in which a team visits what its row has from `begin` to before `end`."""
        return [
            "if row < rows:",
            f"    {variable} = {begin} + lane" if begin else f"    {variable} = lane",
            f"    while {variable} < {end}:",
            *indented(indented(lines)),
            f"        {variable} += {self.size}",
        ]

    def visit_kept(self, variable: str, end: str, lines: Lines) -> Lines:
        """Return the same before `end`, unrolled: `k` counts the elements that a thread keeps."""
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
"""How many rows lie side by side at least: those whose elements a GPU reads at once."""

BUSY = 2**15
"""Threads from which on a GPU has enough to do."""

MOST = 16
"""How many elements of a row a thread keeps at most."""


def team_for(length: int, threads: int) -> Team:
    """Return the teams for rows that lie together.

    A warp for a short row: 32 threads read 128 bytes at once.

    Args:
        length: elements of a row.
        threads: threads of a block.
    """
    size = 1 if length < 8 else min(32, threads)
    while size < threads and size * MOST < length:
        size *= 2
    return Team(size, threads)


def team_beside(rows: int, length: int, threads: int) -> Team:
    """Return the teams for rows that lie side by side: few threads for each where rows are many.

    Args:
        rows: how many rows there are.
        length: elements of a row.
        threads: threads of a block.
    """
    size = 1
    while size * SECTOR < threads and size * 4 <= length and size * rows < BUSY:
        size *= 2
    return Team(size, threads, beside=True)


def kept(length: int, size: int) -> int:
    """Return how many elements each of so many threads keeps: a power of two, or 0."""
    each = 1 << (-(-length // size) - 1).bit_length()
    return each if each <= MOST else 0
