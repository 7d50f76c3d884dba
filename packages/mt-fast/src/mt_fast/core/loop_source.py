"""Loops over memory, around the statements for one element of each view.

A form of loop says how the views lie in memory:

- `flat`: one loop over contiguous memory;
- `rows`: up to six dimensions; the innermost is contiguous in each view, or repeats one element;
- `strided`: up to six dimensions with any strides, for copies and for access by index.

A view called `x` enters a kernel as `x_data`, its storage, and `x_layout`, the position of its
first element followed by its strides (`x_start`, the position alone, in a flat loop). Rows are cut
out of the storage before the inner loop, which then runs from 0: this is the form that LLVM
vectorizes. A strided loop cuts out no rows; there, positions are unsigned, because every signed one
would be tested for a negative index, which takes as long as copying an element.

Kernels call `first_row`, `next_row`, `row_at` and `unsigned` of `positions.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mt_fast.core.source import Source, function, indented

Form = str
"""`flat`, `rows`, `strided`, or the name of a form in `FORMS`."""

OUTER = 3
"""How many dimensions a kernel of a reduction has around its innermost loop."""

ROWS_OUTER = 5
"""How many dimensions the other kernels have around their rows."""


@dataclass(frozen=True, slots=True)
class View:
    """One view in a loop.

    Attributes:
        name: the beginning of its variables.
        repeats: whether it stays at one element in the innermost loop.
        transposed: whether its elements in a row come from a column; in the form `transposed` only.
    """

    name: str
    repeats: bool = False
    transposed: bool = False


Element = Callable[[str], str]
"""Maps the name of a view to an expression of its current element."""

FORMS: dict[Form, Callable[[Sequence[View], list[str]], list[str]]] = {}
"""More forms by name: functions from views and the statements for an element to a kernel's lines
(`transposition/` adds one)."""


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
        parameters: further parameters of the kernel, before the views.
    """
    by_name = {view.name: view for view in views}

    def element(view: str) -> str:
        if form == "strided":
            return f"{view}_data[{view}_at]"
        return f"{view}_value" if by_name[view].repeats else f"{view}_row[i]"

    statements = body(element)
    start = "start" if form == "flat" else "layout"
    arguments = [*parameters, *(f"{v.name}_{part}" for v in views for part in ("data", start))]
    if form == "flat":
        lines = [line for v in views for line in cut(v, f"{v.name}_start", "lo", "hi")]
        return function(
            name, arguments, [*lines, "for i in range(hi - lo):", *indented(statements)]
        )
    lines = FORMS[form](views, statements) if form in FORMS else _rows(form, views, statements)
    return function(name, ("sizes", *arguments), lines)


def cut(view: View, start: str, lo: str, hi: str) -> list[str]:
    """Return the statement that reads a repeated element, or cuts out a row."""
    if view.repeats:
        return [f"{view.name}_value = {view.name}_data[{start}]"]
    begin, end = (start if bound == "0" else f"{start} + {bound}" for bound in (lo, hi))
    storage = "scratch" if view.transposed else "data"
    return [f"{view.name}_row = {view.name}_{storage}[{begin} : {end}]"]


def _rows(form: Form, views: Sequence[View], body: list[str]) -> list[str]:
    """Return the loops over rows and over the elements of a row."""
    last = f"sizes[{ROWS_OUTER}]"
    count = f"unsigned({last})" if form == "strided" else last
    lines = [f"n = {count}", "index = first_row(lo, sizes)", "for _ in range(lo, hi):"]
    inner = []
    for view in views:
        v = view.name
        if form == "strided":
            lines.append(f"    {v}_first = unsigned(row_at({v}_layout, index))")
            lines.append(f"    {v}_step = unsigned({v}_layout[{ROWS_OUTER + 1}])")
            inner.append(f"{v}_at = {v}_first + i * {v}_step")
        else:
            lines.append(f"    {v}_first = row_at({v}_layout, index)")
            lines += indented(cut(view, f"{v}_first", "0", "n"))
    lines += ["    for i in range(n):", *indented([*inner, *body], 2)]
    return [*lines, "    index = next_row(index, sizes)"]
