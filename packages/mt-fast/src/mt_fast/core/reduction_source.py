"""Kernels of reductions: along memory (`fold_rows`) and across it (`columns`).

Both have loops of their own, because many elements become one.
"""

from __future__ import annotations

from mt_fast.core.rendering import (
    Table,
    computation_type,
    constant,
    converted,
    render,
    traced,
)
from mt_fast.core.source import Source, function, indented
from mt_operators import Operator
from mt_operators.core.graph import Graph
from mt_tensor import DType, bool_

NESTED = 3
"""The number of folded dimensions of the kernel `columns`."""

ROWS = 4
"""How many rows the kernel `columns` folds at a time."""

BLOCK = 4096
"""How many elements are folded into one partial result, which keeps the rounding errors small."""

REASSOCIATE = frozenset(("reassoc", "contract", "nsz"))
"""Flags that let LLVM add in another order, which vectorizing a sum needs; nan survives."""


ARGUMENTS = ("kept", "folded", "source_data", "source_layout", "strides", "out_data", "out_layout")
"""The arguments of a reduction over nested loops: the sizes of kept and folded dimensions, and the
two views. Their layouts hold the strides of kept dimensions, `strides` those of folded ones in the
source."""


EXTREMES = {"maximum": "larger", "minimum": "smaller"}
"""Functions that do not test for nan at every step (`lowering.py`), for folds of floats."""

REMEMBER_NAN = "has_nan |= value != value"
"""The test for nan of such a fold; at the end of a run, nan replaces the result."""


class FoldText:
    """The statements that fold elements of one dtype with an operator.

    A *run* is folded before its result joins others: along memory a block of neighbors, across it
    one element of each of a few rows. The variable `part` holds the result so far.

    Attributes:
        graph: the traced operator.
        table: the lowering table.
        source: the dtype of the elements.
        target: the dtype of the results.
        computed: the dtype that the operator computes in.
        held: the dtype of `part`.
        is_sum: whether the operator is a plain sum or product.
        identity: the start of a sum or product.
        fastmath: LLVM's fast-math flags.
        extreme: the function that folds floats for a maximum or minimum; None for other operators.
    """

    def __init__(self, operator: Operator, source: DType, target: DType, table: Table) -> None:
        self.graph: Graph = traced(operator.value, table)
        self.table = table
        self.source = source
        self.target = target
        self.computed = computation_type((source,))
        is_bool = self.graph.expressions[self.graph.outputs[0]].is_bool
        self.held = bool_ if is_bool else self.computed
        last = self.graph.expressions[-1].operation
        one_step = len(self.graph.expressions) == 3
        self.is_sum = one_step and last in ("add", "mul")
        self.identity = constant(1 if last == "mul" else 0, self.computed)
        floats = self.computed.kind == "float"
        self.fastmath = REASSOCIATE if self.is_sum and floats else frozenset()
        self.extreme = EXTREMES.get(last) if one_step and floats else None

    def start(self, element: str) -> str:
        """Return an element as the start of a fold."""
        return converted(element, self.source, self.held)

    def begin(self, first: str) -> tuple[list[str], int]:
        """Return the statements that start a run, and the position of the next element in it.

        Starting with the first element is always correct. If the identity can come first, or that
        element twice, the loop begins at the start of the run, which is better aligned.
        """
        if self.is_sum:
            return [f"part = {self.identity}"], 0
        if self.extreme:
            return [f"part = {self.start(first)}", "has_nan = False"], 0
        return [f"part = {self.start(first)}"], 1

    def resume(self, total: str) -> list[str]:
        """Return the statements that continue from an earlier result."""
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
        """Return the statements of `result = operator(left, right)`, each a text and its dtype."""
        rendered = render(self.graph, ("left", "right"), self.computed, (result[1],), self.table)
        return [
            f"left = {converted(*left, self.computed)}",
            f"right = {converted(*right, self.computed)}",
            *rendered.statements,
            f"{result[0]} = {rendered.results[0]}",
        ]


def fold_rows(operator: Operator, source: DType, target: DType, *, table: Table) -> Source:
    """Return the kernel that folds contiguous rows, equally far apart; a unit is a row.

    A row is folded in blocks, and the blocks' results are folded in turn: one long chain of float32
    additions would lose digits.
    """
    how = FoldText(operator, source, target, table)
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
    """Return the kernel that folds rows with rows; a unit is a piece of a row of outputs.

    A piece fits the fastest cache. Several rows of the source are folded into it at a time, so that
    it is loaded and stored less often than they are.
    """
    how = FoldText(operator, source, target, table)
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
    return function(name, ("width", *ARGUMENTS), body)


def _columns_of_rows(how: FoldText, count: int) -> list[str]:
    """Return the statements that fold `count` rows, from the j-th on, into a row of outputs."""
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
