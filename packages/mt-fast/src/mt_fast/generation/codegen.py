"""Code generation: loops over memory around the statements of a formula.

Every kernel is a Python function that does a *part* of the work, the units from `lo` to `hi`, so
that the same code runs as a whole on one thread or in parts on several. There are few forms:

- `flat`: one loop over contiguous memory;
- `rows`: up to four dimensions; the innermost is contiguous in each view, or repeats one element;
- `strided`: up to four dimensions with any strides, of copies and of what goes by an index;
- `transpose`: copies that make rows of columns;
- `fold` and `columns`: reductions, along memory and across it.

The text is plain Python to be read (`mt_fast.source`) and compiled (`compilation/kernel.py`). A
view called `x` enters a kernel as `x_data`, its storage, and `x_layout`, the position of its first
element followed by its strides (`x_start`, the position alone, in a flat loop). Rows are cut out of
the storage before the inner loop, which then runs from 0: that is the form that LLVM vectorises.
"""

from __future__ import annotations

import inspect
import keyword
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mt_fast.generation.rendering import (
    Table,
    computation_type,
    constant,
    converted,
    render,
    traced,
)
from mt_operators import Formula, Operator
from mt_operators.tracing import PYTHON, Graph
from mt_tensor.dtypes import DType, bool_

Form = Literal["flat", "rows", "strided"]

OUTER = 3
"""How many dimensions a kernel has around its innermost loop."""

NESTED = 3
"""How many folded dimensions the kernel of a reduction has."""

WIDTH = 88
"""How long the lines of a function's head may be."""

ROWS = 4
"""How many rows a kernel folds at a time where it adds rows to rows."""

BLOCK = 4096
"""How many elements are folded into one partial result, which keeps the rounding errors small."""


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel as text.

    Attributes:
        name: the name of its function.
        text: the definition of the function.
        arguments: the names of its parameters after `lo` and `hi`.
        fastmath: what LLVM may assume; never that there is no nan or infinity.
        light: whether there is so little to do for an element that the loop waits for memory.
    """

    name: str
    text: str
    arguments: tuple[str, ...]
    fastmath: frozenset[str] = frozenset()
    light: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """One view in a loop.

    Attributes:
        name: how its variables begin.
        repeats: whether it stays at one element in the innermost loop.
    """

    name: str
    repeats: bool = False


def indented(lines: Sequence[str], levels: int = 1) -> list[str]:
    """Return lines moved to the right."""
    return ["    " * levels + line for line in lines]


def _function(
    name: str, arguments: Sequence[str], body: Sequence[str], fastmath: frozenset[str] = frozenset()
) -> Source:
    parameters = ", ".join(("lo", "hi", *arguments))
    head = [f"def {name}({parameters}):"]
    if len(head[0]) > WIDTH:
        lines = textwrap.wrap(parameters, WIDTH - 4)
        head = [f"def {name}(", *indented(lines), "):"]
    return Source(name, "\n".join((*head, *indented(body))), tuple(arguments), fastmath)


# --- Loops over views of one shape --------------------------------------------------------------

Element = Callable[[str], str]
"""Maps the name of a view to an expression of its current element, or of its position."""


def loop(
    form: Form,
    name: str,
    views: Sequence[View],
    body: Callable[[Element], list[str]],
    parameters: Sequence[str] = (),
) -> Source:
    """Return a kernel that runs `body` once for every element.

    Args:
        form: the form of the loop.
        name: the name of the kernel.
        views: what the loop walks over.
        body: from the expressions for the current elements, the statements to run. In the form
            `strided`, the variable `<view>_at` is the position of a view's current element.
        parameters: what else the kernel takes, before the views.
    """
    by_name = {view.name: view for view in views}

    def element(view: str) -> str:
        if form == "strided":
            return f"{view}_data[{view}_at]"
        return f"{view}_value" if by_name[view].repeats else f"{view}_row[i]"

    place = "start" if form == "flat" else "layout"
    arguments = [*parameters, *(f"{v.name}_{part}" for v in views for part in ("data", place))]
    if form == "flat":
        lines = [line for view in views for line in _cut(view, f"{view.name}_start", "lo", "hi")]
        lines += ["for i in range(hi - lo):", *indented(body(element))]
        return _function(name, arguments, lines)
    return _function(name, ("extents", *arguments), _rows(form, views, body(element)))


def _cut(view: View, start: str, lo: str, hi: str) -> list[str]:
    """Return the statement that reads a repeated element, or cuts out a row."""
    if view.repeats:
        return [f"{view.name}_value = {view.name}_data[{start}]"]
    begin, end = (start if bound == "0" else f"{start} + {bound}" for bound in (lo, hi))
    return [f"{view.name}_row = {view.name}_data[{begin} : {end}]"]


def _rows(form: Form, views: Sequence[View], body: list[str]) -> list[str]:
    """Return the loops over rows and over the elements of a row."""
    lines = ["n = extents[3]", "for unit in range(lo, hi):", "    index = unravel(unit, extents)"]
    inner = []
    for view in views:
        v = view.name
        lines.append(f"    {v}_first = place({v}_layout, index)")
        if form == "strided":
            lines.append(f"    {v}_step = {v}_layout[4]")
            inner.append(f"{v}_at = {v}_first + i * {v}_step")
        else:
            lines += indented(_cut(view, f"{v}_first", "0", "n"))
    lines += ["    for i in range(n):", *indented([*inner, *body], 2)]
    return lines


# --- Element-wise -------------------------------------------------------------------------------

_RESERVED = frozenset(
    [
        "lo",
        "hi",
        "i",
        "n",
        "extents",
        "unit",
        "index",
        "unravel",
        "place",
        "min",
        "max",
        "range",
        "abs",
        "inf",
        "nan",
        "out",
    ]
)
_GENERATED = re.compile(r"(t|n|i|rest|out)\d+|.*_(data|layout|row|value|at|first|start|step|s\d)")


def argument_names(formula: Formula, table: Table) -> list[str]:
    """Return names for the arguments of a formula: those of its own parameters where they serve.

    A gradient takes the upstream gradient, the arguments of its operator, and the output.
    """
    parameters = list(inspect.signature(formula.function).parameters.values())
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    if names == ["upstream"]:
        known = formula.arity - 2
        names += list("xyz"[:known]) if known <= 3 else [f"x{i}" for i in range(known)]
        return [*names, "output"]
    usable = len(set(names)) == formula.arity and all(
        name not in _RESERVED
        and name not in table
        and not _GENERATED.fullmatch(name)
        and name.isascii()
        and not keyword.iskeyword(name)
        and name not in _TYPES
        for name in names
    )
    return names if usable else [f"x{i}" for i in range(formula.arity)]


_TYPES = frozenset(["float32", "float64", "int8", "int16", "int32", "int64", "uint8"])


def elementwise(
    formula: Formula,
    inputs: Sequence[DType],
    outputs: Sequence[DType],
    *,
    table: Table,
    form: Form,
    repeats: Sequence[bool],
) -> Source:
    """Return the kernel of a formula over whole tensors.

    Args:
        formula: what to compute for each element.
        inputs: the element type of each input.
        outputs: the element type of each output.
        table: how elementary functions are written.
        form: `flat` or `rows`.
        repeats: for each input, whether it stays at one element in the innermost loop.
    """
    graph = traced(formula, table)
    dtype = computation_type(inputs)
    names = argument_names(formula, table)
    results = ["out"] if len(outputs) == 1 else [f"out{i}" for i in range(len(outputs))]
    rendered = render(graph, names, dtype, outputs, table)

    def body(element: Element) -> list[str]:
        return [
            *(
                f"{name} = {converted(element(name), stored, dtype)}"
                for name, stored in zip(names, inputs, strict=True)
            ),
            *rendered.statements,
            *(
                f"{element(name)} = {text}"
                for name, text in zip(results, rendered.results, strict=True)
            ),
        ]

    views = [View(n, r) for n, r in zip(names, repeats, strict=True)]
    views += [View(name) for name in results]
    kinds = {dtype.name, *(stored.name for stored in (*inputs, *outputs))}
    suffix = "_".join((dtype.name, *sorted(kinds - {dtype.name}), form))
    kernel = loop(form, f"{formula.name}_{suffix}", views, body)
    return replace(kernel, light=_is_light(graph, len(views)))


def _is_light(graph: Graph, views: int) -> bool:
    """Whether there are but a few simple steps for what is read and written."""
    steps = [step.operation for step in graph.expressions[graph.arity :]]
    return len(steps) <= views and set(steps) <= {*PYTHON, "constant"}


# --- Movement -----------------------------------------------------------------------------------


def copy(source: DType, target: DType, *, form: Form, repeats: bool) -> Source:
    """Return the kernel that copies and converts elements."""

    def body(element: Element) -> list[str]:
        return [f"{element('out')} = {converted(element('x'), source, target)}"]

    name = f"copy_{source.name}_to_{target.name}_{form}" if source is not target else f"copy_{form}"
    return loop(form, name, [View("x", repeats and form != "strided"), View("out")], body)


TILE = 32
"""How many rows are made of columns before the next columns are read: what follows in these, to the
end of what memory fetches at a time, is still in the cache then."""


def transpose(lanes: int) -> Source:
    """Return the kernel that copies where elements in a row come from a column.

    In the last two of four dimensions; a unit is a number of rows. What lies together is read
    together, and turned around in square blocks; what does not fill these is copied one by one.

    Args:
        lanes: how many rows and columns a block has; see `turning.py`.
    """
    body = [
        "rows, columns = extents[2], extents[3]",
        "apart, stride = x_layout[4], out_layout[3]",
        f"units = (rows + {TILE - 1}) // {TILE}",
        "for unit in range(lo, hi):",
        "    outer = unit // units",
        "    index = (outer // extents[1], outer % extents[1], 0)",
        f"    first = (unit - outer * units) * {TILE}",
        "    x_first = place(x_layout, index) + first",
        "    out_first = place(out_layout, index) + first * stride",
        f"    height = min({TILE}, rows - first)",
        f"    whole = height - height % {lanes}",
        f"    for start in range(0, columns, {lanes}):",
        f"        width = min({lanes}, columns - start)",
        f"        turned = whole if width == {lanes} else 0",
        "        x_start, out_start = x_first + start * apart, out_first + start",
        f"        for i in range(0, turned, {lanes}):",
        "            turn(x_data, x_start + i, apart, out_data, out_start + i * stride, stride)",
        "        for i in range(turned, height):",
        "            for j in range(width):",
        "                out_data[out_start + i * stride + j] = x_data[x_start + i + j * apart]",
    ]
    arguments = ("extents", "x_data", "x_layout", "out_data", "out_layout")
    return _function(f"transpose_by_{lanes}", arguments, body)


def gather() -> Source:
    """Return the kernel that reads where an index points; `step` is the stride it counts in."""

    def body(element: Element) -> list[str]:
        return [f"{element('out')} = source_data[source_at + {element('index')} * step]"]

    views = [View("source"), View("index"), View("out")]
    return loop("strided", "gather", views, body, ("step",))


def scatter(operator: Operator | None, dtype: DType, table: Table) -> Source:
    """Return the kernel that writes where an index points, combining if there is an operator."""

    def body(element: Element) -> list[str]:
        target = f"out_data[out_at + {element('index')} * step]"
        if operator is None:
            return [f"{target} = {element('source')}"]
        rendered = render(traced(operator.value, table), ("left", "right"), dtype, (dtype,), table)
        return [
            f"left = {converted(target, dtype, dtype)}",
            f"right = {converted(element('source'), dtype, dtype)}",
            *rendered.statements,
            f"{target} = {rendered.results[0]}",
        ]

    name = "scatter" if operator is None else f"scatter_{operator.name}_{dtype.name}"
    views = [View("out"), View("index"), View("source")]
    return loop("strided", name, views, body, ("step",))


# --- Reductions ---------------------------------------------------------------------------------

REASSOCIATE = frozenset(("reassoc", "contract", "nsz"))
"""Lets LLVM add in another order, which vectorising a sum needs; nan and infinity survive."""


_REDUCTION = ("kept", "folded", "source_data", "source_layout", "strides", "out_data", "out_layout")
"""What a reduction takes: the extents of kept and folded dimensions, and the two views. The layouts
hold the strides of what is kept, `strides` those of the source along what is folded."""


EXTREMES = {"maximum": "larger", "minimum": "smaller"}
"""What folds take in place of functions that have to look out for nan at every step."""

SPOILT = "spoilt |= value != value"
"""Remembers that there was a nan; once, at the end of a run, it takes the place of the result."""


class _Combining:
    """How an operator folds elements of one dtype, as text."""

    def __init__(self, operator: Operator, source: DType, target: DType, table: Table) -> None:
        self.graph: Graph = traced(operator.value, table)
        self.table = table
        self.source = source
        self.target = target
        self.computed = computation_type((source,))
        self.truth = self.graph.expressions[self.graph.outputs[0]].truth
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
            return [f"part = {self.start(first)}", "spoilt = False"], 0
        return [f"part = {self.start(first)}"], 1

    def resume(self, total: str) -> list[str]:
        """Return the statements that start with what has been folded before."""
        part = f"part = {converted(total, self.target, self.held)}"
        return [part, "spoilt = part != part"] if self.extreme else [part]

    def each(self, element: str) -> list[str]:
        """Return the statements that fold one element of a run."""
        if self.extreme:
            value = converted(element, self.source, self.computed)
            return [f"value = {value}", f"part = {self.extreme}(part, value)", SPOILT]
        part = ("part", self.held)
        return self.step(part, (element, self.source), part)

    def end(self) -> list[str]:
        """Return the statements after a run."""
        return [f"part = {self.computed.name}(nan) if spoilt else part"] if self.extreme else []

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
        "    source_first = place(source_layout, index)",
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
        f"    out_data[place(out_layout, index)] = {converted('total', how.held, target)}",
    ]
    suffix = "fold" if contiguous else "fold_strided"
    name = f"{operator.name}_{source.name}_{suffix}"
    return _function(name, _REDUCTION, body, how.fastmath)


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
    return _function(f"{operator.name}_{source.name}_fold_rows", arguments, body, how.fastmath)


def columns(operator: Operator, source: DType, target: DType, *, table: Table) -> Source:
    """Return the kernel of a reduction whose innermost loop is kept.

    A unit is a piece of a row of outputs, short enough for the fastest cache. It is folded with
    several rows of the source at a time, so that it is loaded and stored less often than these.
    """
    how = _Combining(operator, source, target, table)
    body = [
        "n, length = width",
        "for unit in range(lo, hi):",
        "    index = unravel(unit, kept)",
        "    first = index[2] * length",
        "    count = min(length, n - first)",
        "    source_first = place(source_layout, index)",
        "    out_first = place(out_layout, index)",
        "    total = out_data[out_first : out_first + count]",
        "    row = source_data[source_first : source_first + count]",
        "    for i in range(count):",
        f"        total[i] = {converted(how.start('row[i]'), how.held, target)}",
        "    for j0 in range(folded[0]):",
        "        for j1 in range(folded[1]):",
        "            run_first = source_first + j0 * strides[0] + j1 * strides[1]",
        "            done = 1 if j0 == 0 and j1 == 0 else 0",
        f"            rest = (folded[2] - done) % {ROWS}",
        f"            for j in range(done, folded[2] - rest, {ROWS}):",
        *indented(_columns_of_rows(how, ROWS), 4),
        "            for j in range(folded[2] - rest, folded[2]):",
        *indented(_columns_of_rows(how, 1), 4),
    ]
    name = f"{operator.name}_{source.name}_columns"
    return _function(name, ("width", *_REDUCTION), body)


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
