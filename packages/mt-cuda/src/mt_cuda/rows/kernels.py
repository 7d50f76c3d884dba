"""Kernels over rows: a few sums over each row, and then one element after the other.

Softmax, normalisations and losses all have this form. A `Rows` is filled step by step, in the order
of the computation, with expressions in which `{x}` is the element of the operand `x` that is being
visited; the loops, the loads and the work of the team come from here. A row that is not too long is
read once, into registers of its team; of a longer one, what is read again lies in a cache.

Few long rows would leave most of a GPU idle. They are cut into *chunks*, each with blocks of its
own, which store what they found as parts; the next launch puts the parts of a row together.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from string import Formatter

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, indented, numbers
from mt_cuda.core.machine import Size
from mt_cuda.rows.teams import Team, kept, team_beside, team_for
from mt_fast.extending import converted
from mt_tensor import DType
from mt_tensor.extending import Shape, size_of

FUNCTIONS = {
    "larger": ["return a if (a >= b) | (a != a) else b"],  # nan stays
    "plus": ["return a + b"],
    "smaller": ["return a if (a <= b) | (a != a) else b"],
}
"""The functions that fold two totals."""

PLACES = {"row": "own", "column": "j", "whole": "0", "part": "part * rows + own"}
"""Where operands have their element, by the names of places."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a kernel over rows.

    Attributes:
        dtype: its element type. Integers are read as they are, and not in the type of the rows.
        place: "element" if it has an element for each element of the rows, "row" for each row,
            "column" for each place in a row, "part" for each chunk of each row; "whole" if it has
            one for all. Anything else is the expression of a place, of `own`, which is the row,
            and of `j`, the place in it.
        array: whether it is changed by atomic operations.
    """

    dtype: DType
    place: str = "element"
    array: bool = False


@dataclass(frozen=True, slots=True)
class RowLayout:
    """How rows lie in a contiguous operand of shape (outer, size, inner, plane).

    There is a row for each index of `outer` and `inner`; its elements are those of the two other
    dimensions, `plane` of which follow each other.

    Attributes:
        rows: how many rows there are.
        length: how many elements each has.
        inner: how many rows lie side by side.
        plane: how many elements follow each other; of no account where `inner` is 1.
    """

    rows: int
    length: int
    inner: int = 1
    plane: int = 1

    def teams(self, threads: int) -> Team:
        """Return the teams for these rows, in blocks of so many threads."""
        if self.inner > 1 and self.plane == 1:
            team = team_beside(self.rows, self.length, threads)
        else:
            team = team_for(self.length, threads)
        return replace(team, each=kept(self.length, team.size))

    def chunks(self, team: Team, size: Size) -> int:
        """Return into how many chunks rows are cut, so that all of a GPU has something to do."""
        wanted = size.parallel // team.blocks(self.rows)
        span = -(-self.length // max(1, min(wanted, self.length // (team.size * size.least))))
        return -(-self.length // span)

    def numbers(self, chunks: int | None = None) -> tuple[int, ...]:
        """Return the numbers of a kernel; `chunks` is for those that cut rows into so many."""
        rows = (self.rows, self.length, self.inner)
        return rows if chunks is None else (*rows, self.plane, -(-self.length // chunks), chunks)


def rows_along(shape: Shape, dim: int) -> RowLayout:
    """Return the rows along a dimension of a contiguous operand."""
    length, inner = shape[dim], size_of(shape[dim + 1 :]) if dim != -1 else 1
    return RowLayout(size_of(shape) // length, length, inner)


@dataclass(slots=True)
class Rows:
    """A kernel over rows, while it is written.

    Attributes:
        name: what it computes.
        operands: what it reads and writes, by name, in the order of its parameters.
        team: who works on a row.
        compute: the type that is computed with.
        values: names of numbers that are passed by value, in the type that is computed with.
        counts: names of whole numbers that are passed besides those of the layout.
        asked: names of whole numbers that are passed by value, after all others.
        chunked: whether rows are cut into chunks, of `span` elements, and lie in planes.
        lines: what has been written.
        shared: the names of arrays that the threads of a block share, and their types.
        kept: the names of operands whose elements are in registers already.
    """

    name: str
    operands: dict[str, Operand]
    team: Team
    compute: DType
    values: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    chunked: bool = False
    lines: Lines = field(default_factory=list)
    shared: dict[str, str] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Keep nothing of chunks, whose elements do not follow each other evenly."""
        if self.chunked:
            self.team = replace(self.team, each=0)

    def fold(self, result: str, combine: str, begin: str, term: str, kind: str = "") -> Rows:
        """Fold `term` over each row into the variable `result`, of a type, from `begin` on."""
        kind = kind or self.compute.name
        update = f"{result} = {combine}({result}, {self._read(term)})"
        self.lines += [f"{result} = {kind}({begin})", *self._visit([update], term)]
        return self._together({result: combine}, kind)

    def sums(self, **terms: str) -> Rows:
        """Add up several terms over each row, each into the variable of its name."""
        updates = [
            f"{result} = plus({result}, {self._read(term)})" for result, term in terms.items()
        ]
        self.lines += [*self._zeros(terms), *self._visit(updates, *terms.values())]
        return self._together(dict.fromkeys(terms, "plus"), self.compute.name)

    def sums_of_parts(self, count: str, **terms: str) -> Rows:
        """Add up several terms over the parts of each row, of which `count` says how many."""
        updates = [
            f"{result} = plus({result}, {self._read(term)})" for result, term in terms.items()
        ]
        self.lines += [*self._zeros(terms), *self.team.visit("part", "", count, updates)]
        return self._together(dict.fromkeys(terms, "plus"), self.compute.name)

    def let(self, name: str, value: str) -> Rows:
        """Set a variable from what was folded, and from operands that have one element a row."""
        self.lines.append(f"{name} = {self._read(value)}")
        return self

    def store(self, out: str, value: str) -> Rows:
        """Store an element for each element of the rows, or for each row, or each of its parts."""
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
        """Return the expression of an operand's element at some place in the row."""
        return self._loaded(name, f"{name}_at + start + {self._apart(place)}")

    def kernel(self) -> Kernel:
        """Return the kernel, of which the first numbers are those of the layout."""
        used = [f for f in FUNCTIONS if any(f" {f}(" in line for line in self.lines)]
        functions = [
            line for f in used for line in (f"def {f}(a, b):", *indented(FUNCTIONS[f]), "")
        ]
        threads = self.team.threads
        shared = [
            f"{name} = cuda.shared.array({threads}, {kind})" for name, kind in self.shared.items()
        ]
        kept = [
            f"{name}_kept = cuda.local.array({self.team.each}, {self._type(name).name})"
            for name in self.operands
            if name in self.kept
        ]
        body = [*functions, *shared, *kept, *self.team.begin(), *self._begin(), *self.lines]
        dtypes = "_".join(dict.fromkeys(each.dtype.name for each in self.operands.values()))
        layout = ("plane", "span", "chunks") if self.chunked else ()
        parameters = [
            *numbers("rows", "length", "inner", *layout, *self.counts),
            *(Parameter(name, self.compute.name) for name in self.values),
            *numbers(*self.asked),
            *(
                parameter
                for name, each in self.operands.items()
                for parameter in operand(name, each.dtype, each.array)
            ),
        ]
        return define(f"{self.name}_{dtypes}_{self.team.name}", parameters, body, "rows", "length")

    def _begin(self) -> Lines:
        """Return the lines that find where the row begins; threads of no row look at the last."""
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
        """Return the loop in which a team visits its row, or the chunk of it.

        Args:
            lines: what it does with each element.
            texts: the expressions in it, as they were given.
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
        # The position is moved on with `j`, for which nothing needs to be divided.
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
        """Fold the totals of the threads of a team, of one type."""
        if self.team.size > 1:
            arrays = [f"{kind}_totals{k or ''}" for k in range(len(folded))]
            self.shared.update(dict.fromkeys(arrays, kind))
            self.lines += self.team.fold(
                [(name, f, array) for (name, f), array in zip(folded.items(), arrays, strict=True)]
            )
        return self

    def _zeros(self, names: dict[str, str]) -> Lines:
        return [f"{name} = {self.compute.name}(0)" for name in names]

    def _stored(self, value: str, target: Operand) -> str:
        """Return the expression of what is stored."""
        text = self._read(value)
        if target.dtype.is_floating_point:
            text = converted(text, self.compute, target.dtype)
        return store(text, target.dtype)

    def _read(self, text: str) -> str:
        """Return an expression with the operands' elements in place of their names in braces."""
        return text.format_map(
            {
                name: f"{name}_kept[k]" if self._keeps(name) else self._loaded(name, self._at(name))
                for name in self.operands
            }
        )

    def _keeps(self, name: str) -> bool:
        """Whether the elements of an operand are read once, into registers."""
        return bool(self.team.each) and self.operands[name].place == "element"

    def _loaded(self, name: str, at: str) -> str:
        return load(f"{name}[{at}]", self.operands[name].dtype, self._type(name))

    def _type(self, name: str) -> DType:
        """Return the type in which an operand's elements are read."""
        dtype = self.operands[name].dtype
        as_is = dtype.kind == "integer" and self.compute.is_floating_point
        return dtype if as_is else self.compute

    def _apart(self, place: str) -> str:
        """Return the expression of how far from the beginning of a row a place in it lies."""
        return f"{place} * inner" if self.team.beside or self.chunked else place

    def _at(self, name: str) -> str:
        place = self.operands[name].place
        if place == "element":
            return f"{name}_at + at" if self.chunked else f"{name}_at + start + {self._apart('j')}"
        return f"{name}_at + {PLACES.get(place, place)}"


def planned(
    ops: CudaOps,
    rows: Rows,
    layout: RowLayout,
    chunks: int | None = None,
    counts: tuple[int, ...] = (),
) -> Plan:
    """Return the launch of a kernel on rows.

    Args:
        ops: the backend.
        rows: the kernel.
        layout: how the rows lie.
        chunks: how many chunks of each there are, if the kernel has any.
        counts: the numbers that `Rows.counts` names.
    """
    grid = (rows.team.blocks(layout.rows), chunks or 1)
    return ops.plan(rows.kernel(), grid, rows.team.threads, (*layout.numbers(chunks), *counts))
