"""Kernels over rows: a few sums over each row, and then a result for each element.

Softmax, normalization and losses all have this form. A `Rows` is built step by step, in the order
of the computation, from expressions in which `{x}` is the current element of the operand `x`; it
generates the loops, the loads and the reductions of the team. A row that is not too long is read
once, into registers of its team; a longer one is read again from the cache.

A few long rows would leave most of a GPU idle. They are split into *chunks*, each with its own
blocks, which store partial results; the next launch combines the parts of a row.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from string import Formatter
from typing import Any, NamedTuple

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, numbers
from mt_cuda.core.machine import Size
from mt_cuda.rows.teams import Team, kept, team_beside, team_for
from mt_fast.extending import converted
from mt_tensor import DType
from mt_tensor.extending import Shape, size_of

FUNCTIONS = {
    "larger": "a if (a >= b) | (a != a) else b",  # nan stays
    "plus": "a + b",
    "smaller": "a if (a <= b) | (a != a) else b",
}
"""The functions that combine two totals, and their results."""

PLACES = {"row": "own", "column": "j", "whole": "0", "part": "part * rows + own"}
"""The position of an operand's element, by the names of places."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a kernel over rows.

    Attributes:
        dtype: its dtype. Integers are read as integers, and not in the dtype of computations.
        place: "element" for an element per element of the rows, "row" for one per row, "column" for
            one per position in a row, "part" for one per chunk of each row, "whole" for a single
            one. Anything else is the expression of a position, of `own`, the row, and of `j`, the
            position in it.
        array: whether it is changed by atomic operations.
    """

    dtype: DType
    place: str = "element"
    array: bool = False


class RowLayout(NamedTuple):
    """The layout of rows in a contiguous operand of shape (outer, size, inner, plane).

    There is a row for each index of `outer` and `inner`; its elements are those of the two other
    dimensions, `plane` of which are contiguous.

    Attributes:
        rows: the number of rows.
        length: the number of elements of a row.
        inner: the number of rows side by side.
        plane: the number of contiguous elements; irrelevant if `inner` is 1.
    """

    rows: int
    length: int
    inner: int = 1
    plane: int = 1

    def teams(self, threads: int) -> Team:
        """Return the teams for these rows, in blocks of `threads` threads."""
        if self.inner > 1 and self.plane == 1:
            team = team_beside(self.rows, self.length, threads)
        else:
            team = team_for(self.length, threads)
        return replace(team, each=kept(self.length, team.size))

    def chunks(self, team: Team, size: Size) -> int:
        """Return the number of chunks per row that occupies the whole GPU."""
        wanted = size.parallel // team.blocks(self.rows)
        span = -(-self.length // max(1, min(wanted, self.length // (team.size * size.least))))
        return -(-self.length // span)

    def numbers(self, chunks: int | None = None) -> tuple[int, ...]:
        """Return the numbers of a kernel; `chunks` is for kernels that split rows."""
        rows = (self.rows, self.length, self.inner)
        return rows if chunks is None else (*rows, self.plane, -(-self.length // chunks), chunks)


def functions(*names: str) -> Lines:
    """Return the lines that define functions of `FUNCTIONS`."""
    return [line for f in names for line in (f"def {f}(a, b):", f"    return {FUNCTIONS[f]}", "")]


@functools.lru_cache(1024)
def rows_along(shape: Shape, dim: int) -> RowLayout:
    """Return the layout of the rows along a dimension of a contiguous operand."""
    length, inner = shape[dim], size_of(shape[dim + 1 :]) if dim != -1 else 1
    return RowLayout(size_of(shape) // length, length, inner)


@dataclass(slots=True)
class Rows:
    """A builder of a kernel over rows.

    Attributes:
        name: the name of the operation.
        operands: the operands, by name, in the order of the parameters.
        team: the threads that share a row.
        compute: the dtype of computations.
        values: names of numbers that are passed by value, in the dtype of computations.
        counts: names of integers that are passed in addition to those of the layout.
        extra: names of integers that are passed by value, after all others.
        chunked: whether rows are split into chunks of `span` elements, and consist of planes.
        lines: the lines so far.
        shared: the names and types of arrays in shared memory.
        kept: the names of operands whose elements are in registers.
    """

    name: str
    operands: dict[str, Operand]
    team: Team
    compute: DType
    values: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    chunked: bool = False
    lines: Lines = field(default_factory=list)
    shared: dict[str, str] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Do not keep elements of chunks in registers: their positions are not evenly spaced."""
        if self.chunked:
            self.team = replace(self.team, each=0)

    def fold(self, result: str, combine: str, begin: str, term: str, kind: str = "") -> Rows:
        """Reduce `term` over each row into a variable of type `kind`, starting with `begin`."""
        kind = kind or self.compute.name
        update = f"{result} = {combine}({result}, {self._read(term)})"
        self.lines += [f"{result} = {kind}({begin})", *self._visit([update], term)]
        return self._together({result: combine}, kind)

    def sums(self, **terms: str) -> Rows:
        """Sum several terms over each row, each into the variable of its name."""
        return self._sums(terms, self._visit(self._updates(terms), *terms.values()))

    def sums_of_parts(self, count: str, **terms: str) -> Rows:
        """Sum several terms over the parts of each row; `count` is their number."""
        return self._sums(terms, self.team.visit("part", "", count, self._updates(terms)))

    def let(self, name: str, value: str) -> Rows:
        """Set a variable from reductions, and from operands with one element per row."""
        self.lines.append(f"{name} = {self._read(value)}")
        return self

    def store(self, out: str, value: str) -> Rows:
        """Store a value for each element, row or chunk, depending on the place of `out`."""
        target = self.operands[out]
        write = f"{out}[{self._at(out)}] = {self._stored(value, target)}"
        if target.place == "element":
            self.lines += self._visit([write], value)
        else:
            first = " & (chunk == 0)" if self.chunked and target.place == "row" else ""
            part = ["part = cuda.blockIdx.y"] if target.place == "part" else []
            self.lines += [*part, f"if (row < rows) & (lane == 0){first}:", f"    {write}"]
        return self

    def element(self, name: str, place: str) -> str:
        """Return the expression of an operand's element at a position in the row."""
        return self._loaded(name, f"{name}_at + start + {self._apart(place)}")

    def kernel(self) -> Kernel:
        """Return the kernel, whose first numbers are those of the layout."""
        used = [f for f in FUNCTIONS if any(f" {f}(" in line for line in self.lines)]
        threads = self.team.threads
        shared = [
            f"{name} = cuda.shared.array({threads}, {kind})" for name, kind in self.shared.items()
        ]
        kept = [
            f"{name}_kept = cuda.local.array({self.team.each}, {self._type(name).name})"
            for name in self.operands
            if name in self.kept
        ]
        body = [*functions(*used), *shared, *kept, *self.team.begin(), *self._begin(), *self.lines]
        dtypes = "_".join(dict.fromkeys(each.dtype.name for each in self.operands.values()))
        layout = ("plane", "span", "chunks") if self.chunked else ()
        parameters = [
            *numbers("rows", "length", "inner", *layout, *self.counts),
            *(Parameter(name, self.compute.name) for name in self.values),
            *numbers(*self.extra),
            *(
                parameter
                for name, each in self.operands.items()
                for parameter in operand(name, each.dtype, each.array)
            ),
        ]
        return define(f"{self.name}_{dtypes}_{self.team.name}", parameters, body, "rows", "length")

    def _begin(self) -> Lines:
        """Return the lines that find the start of the row; excess threads read the last row."""
        lines = ["own = index32(min(row, rows - 1))"]
        outer, beside = "int64(own // index32(inner))", "int64(own % index32(inner))"
        if not self.team.beside and not self.chunked:
            return [*lines, "start = int64(own) * length"]
        if not self.chunked:
            return [*lines, f"start = {outer} * length * inner + {beside}"]
        return [
            *lines,
            f"start = {outer} * length * inner + {beside} * plane",
            "chunk = cuda.blockIdx.y",
            "begin = chunk * span",
            "stop = min(length, begin + span)",
            f"beyond_step = {self.team.size} % plane",
            f"at_step = {self.team.size} // plane * plane * inner + beyond_step",
        ]

    def _visit(self, lines: Lines, *texts: str) -> Lines:
        """Return the loop of a team over its row, or a chunk of it.

        Args:
            lines: the body of the loop.
            texts: the expressions in the body, with operands in braces.
        """
        if self.team.each:
            read = {name for text in texts for _, name, _, _ in Formatter().parse(text) if name}
            new = [name for name in self.operands if name in read - self.kept and self._keeps(name)]
            self.kept.update(new)
            loads = [f"{name}_kept[k] = {self._loaded(name, self._at(name))}" for name in new]
            visit = functools.partial(self.team.visit_kept, "j", "index32(length)")
            return [*(visit(loads) if loads else []), *visit(lines)]
        if not self.chunked:
            return self.team.visit("j", "", "length", lines)
        # The position is incremented with `j`, which avoids divisions.
        moved = [
            *lines,
            "at += at_step",
            "beyond += beyond_step",
            "if beyond >= plane:",
            "    beyond -= plane",
            "    at += (inner - 1) * plane",
        ]
        return [
            "at = start + (begin + lane) // plane * plane * inner + (begin + lane) % plane",
            "beyond = (begin + lane) % plane",
            *self.team.visit("j", "begin", "stop", moved),
        ]

    def _together(self, folded: dict[str, str], kind: str) -> Rows:
        """Combine the totals of the threads of a team; all totals have the type `kind`."""
        if self.team.size > 1:
            arrays = [f"{kind}_totals{k or ''}" for k in range(len(folded))]
            self.shared.update(dict.fromkeys(arrays, kind))
            self.lines += self.team.fold(
                [(name, f, array) for (name, f), array in zip(folded.items(), arrays, strict=True)]
            )
        return self

    def _updates(self, terms: dict[str, str]) -> Lines:
        """Return the lines that add terms to variables."""
        return [f"{name} = plus({name}, {self._read(term)})" for name, term in terms.items()]

    def _sums(self, names: Iterable[str], visit: Lines) -> Rows:
        """Sum over a loop that adds to variables."""
        self.lines += [*(f"{name} = {self.compute.name}(0)" for name in names), *visit]
        return self._together(dict.fromkeys(names, "plus"), self.compute.name)

    def _stored(self, value: str, target: Operand) -> str:
        """Return the expression to store."""
        text = self._read(value)
        if target.dtype.is_floating_point:
            text = converted(text, self.compute, target.dtype)
        return store(text, target.dtype)

    def _read(self, text: str) -> str:
        """Replace operands in braces with the expressions of their elements."""
        return text.format_map(
            {
                name: f"{name}_kept[k]" if self._keeps(name) else self._loaded(name, self._at(name))
                for name in self.operands
            }
        )

    def _keeps(self, name: str) -> bool:
        """Return whether the elements of an operand are read once, into registers."""
        return bool(self.team.each) and self.operands[name].place == "element"

    def _loaded(self, name: str, at: str) -> str:
        return load(f"{name}[{at}]", self.operands[name].dtype, self._type(name))

    def _type(self, name: str) -> DType:
        """Return the dtype to which an operand's elements are converted."""
        dtype = self.operands[name].dtype
        as_is = dtype.kind == "integer" and self.compute.is_floating_point
        return dtype if as_is else self.compute

    def _apart(self, place: str) -> str:
        """Return the distance of a position in a row from the start of the row."""
        return f"{place} * inner" if self.team.beside or self.chunked else place

    def _at(self, name: str) -> str:
        place = self.operands[name].place
        if place == "element":
            return f"{name}_at + at" if self.chunked else f"{name}_at + start + {self._apart('j')}"
        return f"{name}_at + {PLACES.get(place, place)}"


def planned(
    ops: CudaOps,
    recipe: tuple[Any, ...],
    layout: RowLayout,
    chunks: int | None = None,
    counts: tuple[int, ...] = (),
) -> Plan:
    """Return the cached plan of a kernel over rows.

    Args:
        ops: the backend.
        recipe: the function that returns the `Rows`, and its arguments before the team.
        layout: the layout of the rows.
        chunks: the number of chunks of each row, if the kernel has chunks.
        counts: the numbers that `Rows.counts` names.
    """

    def plan() -> Plan:
        make, *arguments = recipe
        rows: Rows = make(*arguments, layout.teams(ops.machine.size.threads))
        grid = (rows.team.blocks(layout.rows), chunks or 1)
        return ops.plan(rows.kernel(), grid, rows.team.threads, (*layout.numbers(chunks), *counts))

    return ops.remembered((recipe, layout, chunks, counts), plan)  # type: ignore[no-any-return]
