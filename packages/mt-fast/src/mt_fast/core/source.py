"""Generate the source of kernels: loops over memory.

A kernel is a Python function that processes the work units from `lo` to `hi`, such as elements or
rows. So the same code processes all units on one thread, or a part of them on each of several.
`mt_fast.source` shows the source, and Numba compiles it (`kernel.py`).

Most kernels are a loop around the statements for one element. The form of the loop depends on the
memory layout of the views:

- `flat`: one loop over contiguous memory;
- `rows`: up to five dimensions; the innermost is contiguous in each view, or repeats one element;
- `strided`: up to five dimensions with any strides, for copies and for access by index.

A view `x` is passed to a kernel as `x_data`, its storage, and `x_layout`, the position of its first
element followed by its strides (`x_start`, the position alone, in a flat loop). Rows are sliced
from the storage before the inner loop, which then runs from 0: LLVM vectorizes this form. A strided
loop does not slice rows; its positions are unsigned, since Numba would check signed ones for
negative indices, which takes as long as copying an element.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH = 88
"""The maximum length of a line of a function's signature."""

OUTER = 4
"""The number of dimensions of a kernel outside its rows."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a kernel.

    Attributes:
        name: the name of its function.
        text: the definition of the function.
        arguments: the names of its parameters after `lo` and `hi`.
        fastmath: LLVM's fast-math flags, except those that exclude nan and infinity.
        is_memory_bound: whether the loop has so few instructions per element that memory limits it.
    """

    name: str
    text: str
    arguments: tuple[str, ...]
    fastmath: frozenset[str] = frozenset()
    is_memory_bound: bool = False


def indented(lines: Sequence[str], levels: int = 1) -> list[str]:
    """Indent lines."""
    return ["    " * levels + line for line in lines]


def function(
    name: str, arguments: Sequence[str], body: Sequence[str], fastmath: frozenset[str] = frozenset()
) -> Source:
    """Return the source of a function of `lo`, `hi` and more arguments."""
    parameters = ", ".join(("lo", "hi", *arguments))
    signature = [f"def {name}({parameters}):"]
    if len(signature[0]) > WIDTH:
        lines = textwrap.wrap(parameters, WIDTH - 4)
        signature = [f"def {name}(", *indented(lines), "):"]
    return Source(name, "\n".join((*signature, *indented(body))), tuple(arguments), fastmath)


@dataclass(frozen=True, slots=True)
class View:
    """A view in a loop.

    Attributes:
        name: the prefix of its variables.
        role: its elements in the innermost loop: "row" for contiguous ones, "element" for a
            repeated one; ignored by strided loops.
    """

    name: str
    role: str = "row"


Element = Callable[[str], str]
"""Maps the name of a view to an expression of its current element."""


def loop(
    form: str,
    name: str,
    views: Sequence[View],
    body: Callable[[Element], list[str]],
    parameters: Sequence[str] = (),
) -> Source:
    """Generate a kernel that runs `body` once for every element.

    Args:
        form: `flat`, `rows` or `strided`.
        name: the name of the kernel.
        views: the views that the loop iterates over.
        body: returns the statements, given the expressions for the current elements. In the form
            `strided`, the variable `<view>_at` is the position of a view's current element.
        parameters: further parameters of the kernel, before the views.
    """
    repeated = {view.name for view in views if view.role == "element"}

    def element(view: str) -> str:
        if form == "strided":
            return f"{view}_data[{view}_at]"
        return f"{view}_value" if view in repeated else f"{view}_row[i]"

    statements = body(element)
    start = "start" if form == "flat" else "layout"
    arguments = [*parameters, *(f"{v.name}_{part}" for v in views for part in ("data", start))]
    if form == "flat":
        lines = [line for v in views for line in cut(v, f"{v.name}_start", "lo", "hi")]
        return function(
            name, arguments, [*lines, "for i in range(hi - lo):", *indented(statements)]
        )
    return function(name, ("sizes", *arguments), _rows(form, views, statements))


def cut(view: View, start: str, lo: str, hi: str) -> list[str]:
    """Return the statement that reads a repeated element or slices a row."""
    if view.role == "element":
        return [f"{view.name}_value = {view.name}_data[{start}]"]
    begin, end = (start if bound == "0" else f"{start} + {bound}" for bound in (lo, hi))
    return [f"{view.name}_row = {view.name}_data[{begin} : {end}]"]


def _rows(form: str, views: Sequence[View], body: list[str]) -> list[str]:
    """Return the loops over rows and over the elements of a row."""
    last = f"sizes[{OUTER}]"
    count = f"uint64({last})" if form == "strided" else last
    lines = [f"n = {count}", "index = unravel(lo, sizes)", "for _ in range(lo, hi):"]
    inner = []
    for view in views:
        v = view.name
        if form == "strided":
            lines.append(f"    {v}_first = uint64(position({v}_layout, index))")
            lines.append(f"    {v}_step = uint64({v}_layout[{OUTER + 1}])")
            inner.append(f"{v}_at = {v}_first + i * {v}_step")
        else:
            lines.append(f"    {v}_first = position({v}_layout, index)")
            lines += indented(cut(view, f"{v}_first", "0", "n"))
    lines += ["    for i in range(n):", *indented([*inner, *body], 2)]
    return [*lines, "    index = next_row(index, sizes)"]
