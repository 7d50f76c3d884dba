"""Kernels that move elements: copies, rows made of columns, reading and writing by index."""

from __future__ import annotations

from mt_fast.generation.loops import Element, Form, View, loop
from mt_fast.generation.rendering import Table, converted, render, traced
from mt_fast.generation.source import Source, function
from mt_operators import Operator
from mt_tensor.dtypes import DType


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
    return function(f"transpose_by_{lanes}", arguments, body)


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
