"""Kernels over rows: a few sums over each row, and then one element after the other.

Softmax, normalisations and losses all have this form. A `Rows` is filled step by step, in the order
of the computation, with expressions in which `{x}` is the element of the operand `x` that is being
visited; the loops, the loads and the work of the team come from here. A row is read several times;
it lies in a cache after the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mt_cuda.kernel import (
    Kernel,
    Lines,
    Parameter,
    define,
    indented,
    load,
    numbers,
    operand,
    store,
)
from mt_cuda.library.teams import Team
from mt_fast.extending import converted
from mt_tensor import DType

Place = Literal["element", "row", "column", "whole"]

FUNCTIONS = {
    "larger": ["return a if (a >= b) | (a != a) else b"],  # nan stays
    "plus": ["return a + b"],
}
"""The functions that fold two totals."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a kernel over rows.

    Attributes:
        dtype: its element type.
        place: whether it has an element for each element of the rows; for each row; for each
            place in a row; or one for all.
    """

    dtype: DType
    place: Place = "element"


@dataclass(slots=True)
class Rows:
    """A kernel over rows, while it is written.

    The elements of row `row` are at `row // inner * length * inner + row % inner + j * inner`: rows
    lie along one dimension of a contiguous operand, and `inner` is how many elements follow in the
    dimensions after it.

    Attributes:
        name: what it computes.
        operands: what it reads and writes, by name, in the order of its parameters.
        team: who works on a row.
        compute: the type that is computed with.
        values: names of numbers that are passed by value, in the type that is computed with.
        lines: what has been written.
    """

    name: str
    operands: dict[str, Operand]
    team: Team
    compute: DType
    values: tuple[str, ...] = ()
    lines: Lines = field(default_factory=list)

    def fold(self, result: str, combine: str, begin: str, term: str) -> Rows:
        """Fold `term` over each row into the variable `result`, from `begin` on."""
        kind = self.compute.name
        self.lines += [
            f"{result} = {kind}({begin})",
            *self.team.visit([f"{result} = {combine}({result}, {self._read(term)})"]),
            *self.team.fold(result, combine, "totals"),
        ]
        return self

    def let(self, name: str, value: str) -> Rows:
        """Set a variable from what was folded, and from operands that have one element a row."""
        self.lines.append(f"{name} = {self._read(value)}")
        return self

    def store(self, out: str, value: str) -> Rows:
        """Store an element for each element of the rows, or for each row."""
        target = self.operands[out]
        text = store(converted(self._read(value), self.compute, target.dtype), target.dtype)
        write = [f"{out}[{self._at(out)}] = {text}"]
        if target.place == "row":
            self.lines += ["if (row < rows) & (lane == 0):", *indented(write)]
        else:
            self.lines += self.team.visit(write)
        return self

    def kernel(self) -> Kernel:
        """Return the kernel, of which the numbers are rows, length, inner."""
        kind = self.compute.name
        used = [f for f in FUNCTIONS if any(f"{f}(" in line for line in self.lines)]
        functions = [
            line for f in used for line in (f"def {f}(a, b):", *indented(FUNCTIONS[f]), "")
        ]
        shared = [f"totals = cuda.shared.array({self.team.threads}, {kind})"] if used else []
        body = [
            *functions,
            *shared,
            *self.team.begin(),
            "start = row // inner * length * inner + row % inner",
            *self.lines,
        ]
        dtypes = "_".join(dict.fromkeys(each.dtype.name for each in self.operands.values()))
        parameters = [
            *numbers("rows", "length", "inner"),
            *(Parameter(name, kind) for name in self.values),
            *(p for name, each in self.operands.items() for p in operand(name, each.dtype)),
        ]
        name = f"{self.name}_{dtypes}_team{self.team.size}"
        return define(name, parameters, body, "rows", "length")

    def _read(self, text: str) -> str:
        """Return an expression with the operands' elements in place of their names in braces."""
        elements = {
            name: load(f"{name}[{self._at(name)}]", each.dtype, self.compute)
            for name, each in self.operands.items()
        }
        return text.format_map(elements)

    def _at(self, name: str) -> str:
        place = {"element": "start + j * inner", "row": "row", "column": "j", "whole": "0"}
        return f"{name}_at + {place[self.operands[name].place]}"


def rows_along(shape: tuple[int, ...], dim: int) -> tuple[int, int, int]:
    """Return rows, length and inner of a contiguous operand's rows along a dimension."""
    length = shape[dim]
    inner = 1
    for extent in shape[dim + 1 :] if dim != -1 else ():
        inner *= extent
    rows = 1
    for extent in shape:
        rows *= extent
    return rows // length, length, inner
