"""The strips of a product: the data of each factor that a block copies to shared memory.

A strip is as wide as the block's tile and as deep as a few positions of the inner dimension. Each
thread loads some groups of neighbors through pointers, which are incremented from strip to strip,
and stores them to shared memory for all threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from mt_cuda.core.elements import load
from mt_cuda.core.kernel import Lines, indented
from mt_cuda.core.matrix import total_type
from mt_cuda.matrices.tiles import Tile, lanes_of
from mt_fast.extending import constant
from mt_tensor import DType


@dataclass(frozen=True, slots=True)
class Factor:
    """The layout of a factor in memory.

    Attributes:
        by_inner: whether neighbors along the inner dimension are closest to each other.
        wide: whether 16 bytes of neighbors can be read at once: neighbors are contiguous, and each
            group is aligned and entirely inside or outside of the matrix.
    """

    by_inner: bool
    wide: bool

    def __str__(self) -> str:
        """Return the layout's part of a kernel's name."""
        return ("inner" if self.by_inner else "outer") + ("_wide" if self.wide else "")


@dataclass(frozen=True, slots=True)
class Strip:
    """The data of one factor that all threads together copy to shared memory, strip by strip.

    A strip has `tile.depth` elements along the inner dimension, and `width` along the outer one. In
    shared memory it has a row for each inner position, with padding, so that vertically adjacent
    elements are in different banks.

    Attributes:
        name: `a` or `b`.
        factor: the layout of the matrix.
        dtype: its dtype.
        width: the elements along the outer dimension.
        begin: the name of the start of the tile along the outer dimension.
        length: the name of the size of that dimension.
        part: the name of the thread's part of the tile in that direction.
        tile: how a block computes its part.
    """

    name: str
    factor: Factor
    dtype: DType
    width: int
    begin: str
    length: str
    part: str
    tile: Tile

    @property
    def total(self) -> DType:
        """The dtype of multiplications."""
        return total_type(self.dtype)

    @property
    def lanes(self) -> int:
        """The number of neighbors that are read at once."""
        return lanes_of(self.dtype) if self.factor.wide else 1

    @property
    def pitch(self) -> int:
        """The length of a row in shared memory."""
        return self.width + lanes_of(self.total)

    @property
    def fastest(self) -> int:
        """The number of groups along the direction in which neighbors are closest."""
        return (self.tile.depth if self.factor.by_inner else self.width) // self.lanes

    @property
    def slowest(self) -> int:
        """The number of elements in the other direction."""
        return self.width if self.factor.by_inner else self.tile.depth

    @property
    def rounds(self) -> list[tuple[int, int]]:
        """The inner and outer distance of each of a thread's groups from the first one."""
        threads = self.tile.threads
        count = max(1, self.fastest * self.slowest // threads)
        across = max(1, self.fastest // threads)  # rounds until a line is full
        down = max(1, threads // self.fastest)  # lines in a round
        steps = [(r % across * threads * self.lanes, r // across * down) for r in range(count)]
        return steps if self.factor.by_inner else [(slow, fast) for fast, slow in steps]

    @property
    def held(self) -> int:
        """The number of elements that a thread loads."""
        return len(self.rounds) * self.lanes

    @property
    def lines(self) -> list[int]:
        """The distances of a thread's groups from its first in the outer direction.

        There is a pointer for each. Its groups are equally far apart in the inner direction, also
        from strip to strip, so it is incremented after each.
        """
        return list(dict.fromkeys(outer for _, outer in self.rounds))

    def pointer(self, outer: int) -> str:
        """Return the name of the pointer to groups at this distance from a thread's first."""
        return f"{self.name}{self.lines.index(outer)}"

    def arrays(self) -> Lines:
        """Return the declarations: two strips, and a thread's elements of the next one."""
        size = 2 * self.tile.depth * self.pitch
        return [
            f"{self.name}_strips = cuda.shared.array({size}, {self.total.name})",
            f"{self.name}_next = cuda.local.array({self.held}, {self.total.name})",
        ]

    def find(self) -> Lines:
        """Return the lines that find a thread's groups in memory."""
        m, fastest = self.name, self.fastest
        fast, slow = ("inner", "outer") if self.factor.by_inner else ("outer", "inner")
        last = f"index32({self.length}) - {1 if self.factor.by_inner else self.lanes}"
        distance = self.tile.depth * len(self.lines) // len(self.rounds)
        lines = [
            f"{m}_{fast} = thread % {fastest}" + (f" * {self.lanes}" if self.lanes > 1 else ""),
            f"{m}_{slow} = thread // {fastest}",
            f"{m}_step = {distance} * {m}_inner_stride",
        ]
        for outer in self.lines:
            here = f"min({self.begin} + {m}_outer{plus(outer)}, {last})"
            lines += [
                f"{self.pointer(outer)} = {m}[{m}_start + {here} * {m}_outer_stride "
                f"+ (first + {m}_inner) * {m}_inner_stride:]"
            ]
        return lines

    def find_buffer(self) -> Lines:
        """Return the lines that find where a thread stores its groups, and where it reads."""
        m = self.name
        return [
            f"{m}_put = {m}_strips[{m}_inner * {self.pitch} + {m}_outer:]",
            f"{m}_get = {m}_strips[{lanes_of(self.total)} * {self.part}:]",
            f"{m}_turn = {self.tile.depth * self.pitch}",
        ]

    def clear(self) -> Lines:
        """Return the lines that initialize a thread's groups with zeros."""
        m, zero = self.name, constant(0, self.total)
        return [f"for e in range({self.held}):", f"    {m}_next[e] = {zero}"]

    def begin_sums(self) -> Lines:
        """Return the lines that declare sums of a thread's elements, and initialize them."""
        m = self.name
        return [
            f"{m}_sums = cuda.local.array({self.held}, {self.total.name})",
            f"for e in range({self.held}):",
            f"    {m}_sums[e] = {m}_next[e]",
        ]

    def add_to_sums(self) -> Lines:
        """Return the lines that add a thread's elements to its sums, elementwise."""
        m = self.name
        return [f"for e in range({self.held}):", f"    {m}_sums[e] += {m}_next[e]"]

    def take_sums(self) -> Lines:
        """Return the lines that replace a thread's elements with the sums."""
        m = self.name
        return [f"for e in range({self.held}):", f"    {m}_next[e] = {m}_sums[e]"]

    def fetch(self, complete: bool) -> Lines:
        """Return the lines that load a thread's groups, and increment its pointers.

        Args:
            complete: whether the strip is complete; otherwise nothing is read beyond its end.
        """
        m, lines = self.name, []
        for r, (inner, outer) in enumerate(self.rounds):
            pointer = self.pointer(outer)
            inside = "" if complete else f"({m}_inner{plus(inner)} < left_over)"
            conditions = [each for each in (self.guard, inside) if each]
            read = self._read(r, pointer)
            if conditions:
                read = [f"if {' & '.join(conditions)}:", *indented(read)]
            lines += [*read, f"{pointer} = {pointer}[{m}_step:]"]
        return lines

    def _read(self, r: int, pointer: str) -> Lines:
        """Return the lines that load a thread's r-th group."""
        m, lanes = self.name, self.lanes
        if lanes == 1:
            return [f"{m}_next[{r}] = {load(f'{pointer}[0]', self.dtype, self.total)}"]
        return [
            f"{m}_lanes{r} = load{lanes}({pointer}, 0)",
            f"for e in range({lanes}):",
            f"    {m}_next[{_before(lanes * r)}e] = "
            f"{load(f'{m}_lanes{r}[e]', self.dtype, self.total)}",
        ]

    def put(self) -> Lines:
        """Return the lines that store a thread's groups to the strip that is not being read."""
        m, lanes, together = self.name, self.lanes, lanes_of(self.total)
        lines = []
        for r, (inner, outer) in enumerate(self.rounds):
            at = inner * self.pitch + outer
            if lanes == 1:
                found = [f"{m}_put[{at}] = {m}_next[{r}]"]
            elif self.factor.by_inner:
                place, value = f"{_before(at)}{self.pitch} * e", f"{_before(lanes * r)}e"
                found = [f"for e in range({lanes}):", f"    {m}_put[{place}] = {m}_next[{value}]"]
            else:
                found = []
                for e in range(0, lanes, together):
                    values = [f"{m}_next[{lanes * r + e + k}]" for k in range(together)]
                    group = f"({', '.join(values)})"
                    found.append(f"store{together}({m}_put, {at + e}, {group})")
            if self.guard:
                found = [f"if {self.guard}:", *indented(found)]
            lines += found
        return lines

    def switch(self) -> Lines:
        """Return the lines that switch to the other buffer."""
        m = self.name
        pointers = [f"{m}_{pointer} = {m}_{pointer}[{m}_turn:]" for pointer in ("put", "get")]
        return [*pointers, f"{m}_turn = -{m}_turn"]

    def get(self, each: int) -> Lines:
        """Return the lines that read a thread's factors at the inner position `j`."""
        lanes = lanes_of(self.total)
        count = each // lanes
        return [
            f"{self.name}_part{g} = load{lanes}({self.name}_get, "
            f"{self.pitch} * j{plus(g * self.width // count)})"
            for g in range(count)
        ]

    @property
    def guard(self) -> str:
        """The condition that a thread has a group, if there are fewer groups than threads."""
        if self.fastest * self.slowest >= self.tile.threads:
            return ""
        return f"({self.name}_{'outer' if self.factor.by_inner else 'inner'} < {self.slowest})"


def plus(number: int) -> str:
    """Return the suffix that adds a number to an expression."""
    return f" + {number}" if number else ""


def _before(number: int) -> str:
    return f"{number} + " if number else ""
