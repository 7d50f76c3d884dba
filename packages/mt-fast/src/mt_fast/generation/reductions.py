"""Kernels of reductions: along memory (`fold`, `fold_rows`) and across it (`columns`).

The last kernels as text. They have loops of their own, for many elements become one.
"""

from __future__ import annotations

from mt_fast.generation.rendering import (
    Table,
    computation_type,
    constant,
    converted,
    render,
    traced,
)
from mt_fast.generation.source import Source, function, indented
from mt_operators import Operator
from mt_operators.core.graph import Graph
from mt_tensor import DType, bool_

NESTED = 3
"""How many folded dimensions the kernel of a reduction has."""

ROWS = 4
"""How many rows a kernel folds at a time where it adds rows to rows."""

BLOCK = 4096
"""How many elements are folded into one partial result, which keeps the rounding errors small."""

REASSOCIATE = frozenset(("reassoc", "contract", "nsz"))
"""Lets LLVM add in another order, which vectorising a sum needs; nan and infinity survive."""


_REDUCTION = ("kept", "folded", "source_data", "source_layout", "strides", "out_data", "out_layout")
"""What a reduction takes: the extents of kept and folded dimensions, and the two views. The layouts
hold the strides of what is kept, `strides` those of the source along what is folded."""


EXTREMES = {"maximum": "larger", "minimum": "smaller"}
"""What folds call (see `spelling.py`) in place of functions that look out for nan at every step."""

REMEMBER_NAN = "has_nan |= value != value"
"""Remembers that there was a nan; once, at the end of a run, it takes the place of the result."""


class _Combining:
    """How an operator folds elements of one dtype, as text.

    A *run* are the elements that are folded before the result joins others: along memory a block of
    neighbours, across it one element of each of a few rows. What has been folded of it is `part`.

    Attributes:
        graph: what the operator computes.
        table: how elementary functions are written.
        source: the type of the elements.
        target: the type of the results.
        computed: the type that the operator computes in.
        truth: whether it yields truth values.
        held: the type of `part`.
        simple: whether it is just a sum or a product.
        identity: what these start with.
        fastmath: what LLVM may assume.
        extreme: what folds floats in place of a maximum or minimum; None for other operators.
    """

    def __init__(self, operator: Operator, source: DType, target: DType, table: Table) -> None:
        self.graph: Graph = traced(operator.value, table)
        self.table = table
        self.source = source
        self.target = target
        self.computed = computation_type((source,))
        self.truth = self.graph.expressions[self.graph.outputs[0]].is_bool
        self.held = bool_ if self.truth else self.computed
        last = self.graph.expressions[-1].operation
        bare = len(self.graph.expressions) == 3
        self.simple = bare and last in ("add", "mul")
        self.identity = constant(1 if last == "mul" else 0, self.computed)
        floats = self.computed.kind == "float"
        self.fastmath = REASSOCIATE if self.simple and floats else frozenset()
        self.extreme = EXTREMES.get(last) if bare and floats else None

    def start(self, element: str) -> str:
        """Return an element as the start of a fold."""
        return converted(element, self.source, self.held)

    def begin(self, first: str) -> tuple[list[str], int]:
        """Return the statements that start to fold a run, and which element then comes first.

        Starting with the first element is always right. Where the identity, or that element twice,
        makes no difference, the loop can begin at the start of the run, which is better aligned.
        """
        if self.simple:
            return [f"part = {self.identity}"], 0
        if self.extreme:
            return [f"part = {self.start(first)}", "has_nan = False"], 0
        return [f"part = {self.start(first)}"], 1

    def resume(self, total: str) -> list[str]:
        """Return the statements that start with what has been folded before."""
        part = f"part = {converted(total, self.target, self.held)}"
        return [part, "has_nan = part != part"] if self.extreme else [part]

    def each(self, element: str) -> list[str]:
        """Return the statements that fold one element of a run."""
        if self.extreme:
            value = converted(element, self.source, self.computed)
            return [f"value = {value}", f"part = {self.extreme}(part, value)", REMEMBER_NAN]
        part = ("part", self.held)
        return self.step(part, (element, self.source), part)

    def end(self) -> list[str]:
        """Return the statements after a run."""
        return [f"part = {self.computed.name}(nan) if has_nan else part"] if self.extreme else []

    def step(
        self, left: tuple[str, DType], right: tuple[str, DType], result: tuple[str, DType]
    ) -> list[str]:
        """Return the statements of `result = operator(left, right)`; each is a text and a type."""
        rendered = render(self.graph, ("left", "right"), self.computed, (result[1],), self.table)
        return [
            f"left = {converted(*left, self.computed)}",
            f"right = {converted(*right, self.computed)}",
            *rendered.statements,
            f"{result[0]} = {rendered.results[0]}",
        ]


def fold(
    operator: Operator, source: DType, target: DType, *, table: Table, contiguous: bool
) -> Source:
    """Return the kernel of a reduction whose innermost loop is folded; a unit is one output.

    Each row is folded in blocks, and the blocks' results are folded in turn: one long chain of
    float32 additions would lose digits.
    """
    how = _Combining(operator, source, target, table)
    part, total = ("part", how.held), ("total", how.held)
    element = "row[i]" if contiguous else "source_data[row_first + i * step]"
    begin, first = how.begin("row[0]" if contiguous else "source_data[row_first]")
    cut = ["row = source_data[row_first : row_first + count]"] if contiguous else []
    body = [
        "n, step = folded[2], strides[2]",
        "for unit in range(lo, hi):",
        "    index = unravel(unit, kept)",
        "    source_first = position(source_layout, index)",
        f"    total = {how.start('source_data[source_first]')}",
        "    begun = False",
        "    for j0 in range(folded[0]):",
        "        for j1 in range(folded[1]):",
        "            run_first = source_first + j0 * strides[0] + j1 * strides[1]",
        f"            for first in range(0, n, {BLOCK}):",
        f"                count = min({BLOCK}, n - first)",
        "                row_first = run_first + first * step",
        *indented(cut, 4),
        *indented(begin, 4),
        f"                for i in range({first}, count):",
        *indented(how.each(element), 5),
        *indented(how.end(), 4),
        "                if begun:",
        *indented(how.step(total, part, total), 5),
        "                else:",
        "                    total = part",
        "                    begun = True",
        f"    out_data[position(out_layout, index)] = {converted('total', how.held, target)}",
    ]
    suffix = "fold" if contiguous else "fold_strided"
    name = f"{operator.name}_{source.name}_{suffix}"
    return function(name, _REDUCTION, body, how.fastmath)


def fold_rows(operator: Operator, source: DType, target: DType, *, table: Table) -> Source:
    """Return the kernel of a reduction of rows that are equally far apart; a unit is a row.

    It does what `fold` does for one kept and one folded dimension, with less to work out for each
    row.
    """
    how = _Combining(operator, source, target, table)
    begin, first = how.begin("row[0]")
    part, total = ("part", how.held), ("total", how.held)
    body = [
        "for unit in range(lo, hi):",
        "    row_first = source_start + unit * apart",
        f"    count = min({BLOCK}, n)",
        "    row = source_data[row_first : row_first + count]",
        *indented(begin),
        f"    for i in range({first}, count):",
        *indented(how.each("row[i]"), 2),
        *indented(how.end()),
        "    total = part",
        f"    for block in range({BLOCK}, n, {BLOCK}):",
        f"        count = min({BLOCK}, n - block)",
        "        row = source_data[row_first + block : row_first + block + count]",
        *indented(begin, 2),
        f"        for i in range({first}, count):",
        *indented(how.each("row[i]"), 3),
        *indented(how.end(), 2),
        *indented(how.step(total, part, total), 2),
        f"    out_data[out_start + unit * step] = {converted('total', how.held, target)}",
    ]
    arguments = ("n", "source_data", "source_start", "apart", "out_data", "out_start", "step")
    return function(f"{operator.name}_{source.name}_fold_rows", arguments, body, how.fastmath)


def columns(operator: Operator, source: DType, target: DType, *, table: Table) -> Source:
    """Return the kernel of a reduction whose innermost loop is kept.

    A unit is a piece of a row of outputs, short enough for the fastest cache. It is folded with
    several rows of the source at a time, so that it is loaded and stored less often than these.
    """
    how = _Combining(operator, source, target, table)
    begin, first = how.begin("row[i]")
    body = [
        "n, length = width",
        "for unit in range(lo, hi):",
        "    index = unravel(unit, kept)",
        "    first = index[2] * length",
        "    count = min(length, n - first)",
        "    source_first = position(source_layout, index)",
        "    out_first = position(out_layout, index)",
        "    total = out_data[out_first : out_first + count]",
        "    row = source_data[source_first : source_first + count]",
        "    for i in range(count):",
        *indented(begin, 2),
        f"        total[i] = {converted('part', how.held, target)}",
        "    for j0 in range(folded[0]):",
        "        for j1 in range(folded[1]):",
        "            run_first = source_first + j0 * strides[0] + j1 * strides[1]",
        f"            done = {first} if j0 == 0 and j1 == 0 else 0",
        f"            rest = (folded[2] - done) % {ROWS}",
        f"            for j in range(done, folded[2] - rest, {ROWS}):",
        *indented(_columns_of_rows(how, ROWS), 4),
        "            for j in range(folded[2] - rest, folded[2]):",
        *indented(_columns_of_rows(how, 1), 4),
    ]
    name = f"{operator.name}_{source.name}_columns"
    return function(name, ("width", *_REDUCTION), body)


def _columns_of_rows(how: _Combining, count: int) -> list[str]:
    """Return the statements that fold some rows, from the j-th on, into a row of outputs."""
    rows = [f"row{k}" for k in range(count)]
    return [
        "row_first = run_first + j * strides[2]",
        *(
            line
            for row in rows
            for line in (
                f"{row} = source_data[row_first : row_first + count]",
                "row_first += strides[2]",
            )
        ),
        "for i in range(count):",
        *indented(how.resume("total[i]")),
        *(line for row in rows for line in indented(how.each(f"{row}[i]"))),
        *indented(how.end()),
        f"    total[i] = {converted('part', how.held, how.target)}",
    ]
