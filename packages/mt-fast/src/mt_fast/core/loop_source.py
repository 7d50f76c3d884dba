"""Loops over memory, for statements about one element of each view.

The statements for one element are put into a loop here. There are four forms:

- `flat`: one loop over contiguous memory;
- `rows`: up to six dimensions; the innermost is contiguous in each view, or repeats one element;
- `transposed`: up to four where elements in a row of some views come from a column: these are
  transposed tile by tile (`transposition.py`), into scratch memory whose rows are read;
- `strided`: up to six dimensions with any strides, of copies and of what goes by an index.

A view called `x` enters a kernel as `x_data`, its storage, and `x_layout`, the position of its
first element followed by its strides (`x_start`, the position alone, in a flat loop). Rows are cut
out of the storage before the inner loop, which then runs from 0: that is the form that LLVM
vectorises. Where no row is cut out, positions are unsigned. As a negative index counts from the
end, each signed one would be tested for its sign, which takes as long as the copy of an element.

What the text calls follows later: `first_row`, `next_row`, `row_at`, `unsigned`, `position` and
`tile` in `positions.py`, `scratch` and `transpose_tile` in `transposition.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from mt_fast.core.source import Source, function, indented

Form = Literal["flat", "rows", "transposed", "strided"]

OUTER = 3
"""How many dimensions a reduction, or a kernel with tiles, has around its innermost loop."""

ROWS_OUTER = 5
"""How many dimensions other kernels have around their rows."""

TILE_ROWS = 32
"""How many rows a tile has at most: so many neighbours are read of each column. What a line of the
cache holds beyond them is still in the cache when the next rows are made of the same columns."""

TILE_COLUMNS = 256
"""How many columns a tile has at most: few enough for its elements to stay in the cache, and enough
for loops over its rows."""


@dataclass(frozen=True, slots=True)
class View:
    """One view in a loop.

    Attributes:
        name: how its variables begin.
        repeats: whether it stays at one element in the innermost loop.
        transposed: whether its elements in a row come from a column; in the form `transposed` only.
    """

    name: str
    repeats: bool = False
    transposed: bool = False


Element = Callable[[str], str]
"""Maps the name of a view to an expression of its current element."""


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

    start = "start" if form == "flat" else "layout"
    arguments = [*parameters, *(f"{v.name}_{part}" for v in views for part in ("data", start))]
    if form == "flat":
        lines = [line for view in views for line in _cut(view, f"{view.name}_start", "lo", "hi")]
        lines += ["for i in range(hi - lo):", *indented(body(element))]
        return function(name, arguments, lines)
    statements = body(element)
    lines = _tiles(views, statements) if form == "transposed" else _rows(form, views, statements)
    return function(name, ("extents", *arguments), lines)


def _cut(view: View, start: str, lo: str, hi: str) -> list[str]:
    """Return the statement that reads a repeated element, or cuts out a row."""
    if view.repeats:
        return [f"{view.name}_value = {view.name}_data[{start}]"]
    begin, end = (start if bound == "0" else f"{start} + {bound}" for bound in (lo, hi))
    storage = "scratch" if view.transposed else "data"
    return [f"{view.name}_row = {view.name}_{storage}[{begin} : {end}]"]


def _rows(form: Form, views: Sequence[View], body: list[str]) -> list[str]:
    """Return the loops over rows and over the elements of a row."""
    last = f"extents[{ROWS_OUTER}]"
    count = f"unsigned({last})" if form == "strided" else last
    lines = [f"n = {count}", "index = first_row(lo, extents)", "for _ in range(lo, hi):"]
    inner = []
    for view in views:
        v = view.name
        if form == "strided":
            lines.append(f"    {v}_first = unsigned(row_at({v}_layout, index))")
            lines.append(f"    {v}_step = unsigned({v}_layout[{ROWS_OUTER + 1}])")
            inner.append(f"{v}_at = {v}_first + i * {v}_step")
        else:
            lines.append(f"    {v}_first = row_at({v}_layout, index)")
            lines += indented(_cut(view, f"{v}_first", "0", "n"))
    lines += ["    for i in range(n):", *indented([*inner, *body], 2)]
    return [*lines, "    index = next_row(index, extents)"]


def _tiles(views: Sequence[View], body: list[str]) -> list[str]:
    """Return the loops over tiles, over their rows and over the elements of a row."""
    lines = [
        f"{view.name}_scratch = scratch({view.name}_data)" for view in views if view.transposed
    ]
    lines += [
        "for unit in range(lo, hi):",
        "    index, start, height, n = tile(unit, extents)",
    ]
    rows = []
    for view in views:
        v = view.name
        first, step = f"{v}_first", f"{v}_layout[4]"
        lines.append(f"    {first} = position({v}_layout, index) + start * {step}")
        if view.transposed:
            target = f"{v}_scratch, 0, {TILE_COLUMNS}"
            lines.append(f"    transpose_tile({v}_data, {first}, {step}, {target}, height, n)")
            rows += _cut(view, f"row * {TILE_COLUMNS}", "0", "n")
        else:
            rows.append(f"{v}_start = {first} + row * {v}_layout[3]")
            rows += _cut(view, f"{v}_start", "0", "n")
    lines += ["    for row in range(height):", *indented(rows, 2)]
    return [*lines, *indented(["for i in range(n):", *indented(body)], 2)]
