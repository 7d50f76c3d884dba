"""Threads that share the work on one row: as many as it is worth, and several rows in a block.

The lesson's reductions give a whole block to a row, or a single thread. Rows of a hundred elements
want neither. A team is a power of two of neighbouring threads: they visit the row's elements in
turns, so that neighbours read neighbours, and fold what they found in shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.kernel import Lines, indented


@dataclass(frozen=True, slots=True)
class Team:
    """The teams of a block.

    Attributes:
        size: threads of a team, a power of two.
        threads: threads of a block, a multiple of it.
    """

    size: int
    threads: int

    @property
    def rows(self) -> int:
        """How many rows a block works on."""
        return self.threads // self.size

    def blocks(self, rows: int) -> int:
        """Return how many blocks work on so many rows."""
        return -(-rows // self.rows)

    def begin(self) -> Lines:
        """Return the lines that find the row of a thread, and its place in the team."""
        return [
            "thread = cuda.threadIdx.x",
            f"row = cuda.blockIdx.x * {self.rows} + thread // {self.size}",
            f"lane = thread % {self.size}",
        ]

    def visit(self, lines: Lines, length: str = "length") -> Lines:
        """Return the loop in which a team visits each `j` below the length of its row, if any."""
        return [
            "if row < rows:",
            "    j = lane",
            f"    while j < {length}:",
            *indented(indented(lines)),
            f"        j += {self.size}",
        ]

    def fold(self, total: str, combine: str, memory: str) -> Lines:
        """Return the lines after which every thread has what the totals of its team make together.

        Args:
            total: the variable that each thread has its total in, and gets the result in.
            combine: the name of the function that makes one total of two.
            memory: a shared array with an element for each thread of the block.
        """
        if self.size == 1:
            return []
        lines = [f"{memory}[thread] = {total}", "cuda.syncthreads()"]
        apart = self.size // 2
        while apart:
            lines += [
                f"if lane < {apart}:",
                f"    {memory}[thread] = {combine}({memory}[thread], {memory}[thread + {apart}])",
                "cuda.syncthreads()",
            ]
            apart //= 2
        # The barrier at the end: the memory is used again by the next fold.
        return [*lines, f"{total} = {memory}[thread - lane]", "cuda.syncthreads()"]


def team_for(length: int, threads: int, apart: bool = False) -> Team:
    """Return the teams for rows of so many elements.

    A warp for a short row: 32 threads read 128 bytes at once. Where the elements of a row lie
    apart, those of neighbouring rows are neighbours, and each thread takes a row of its own.

    Args:
        length: elements of a row.
        threads: threads of a block.
        apart: whether other rows' elements lie between those of a row.
    """
    if apart or length < 8:
        return Team(1, threads)
    size = min(32, threads)
    while size < threads and size * 16 < length:
        size *= 2
    return Team(size, threads)
