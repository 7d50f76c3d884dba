"""Kernels that move elements: copies, rows made of columns, reading and writing by index.

The same loops, with next to nothing to compute in them.
"""

from __future__ import annotations

from mt_fast.core.loop_source import Element, Form, View, loop
from mt_fast.core.rendering import Table, converted, render, traced
from mt_fast.core.source import Source, function
from mt_operators import Operator
from mt_tensor import DType


def copy(source: DType, target: DType, *, form: Form, repeats: bool) -> Source:
    """Return the kernel that copies and converts elements."""

    def body(element: Element) -> list[str]:
        return [f"{element('out')} = {converted(element('x'), source, target)}"]

    name = f"copy_{source.name}_to_{target.name}_{form}" if source is not target else f"copy_{form}"
    read = View("x", repeats and form != "strided", transposed=form == "transposed")
    return loop(form, name, [read, View("out")], body)


def transpose() -> Source:
    """Return the kernel that copies where elements in a row come from a column.

    In the last two of four dimensions; a unit is a tile, see `transposition.py`.
    """
    body = [
        "for unit in range(lo, hi):",
        "    index, start, height, n = tile(unit, extents)",
        "    column_stride, row_stride = x_layout[4], out_layout[3]",
        "    x_first = position(x_layout, index) + start * column_stride",
        "    out_first = position(out_layout, index) + start",
        "    transpose_tile("
        "x_data, x_first, column_stride, out_data, out_first, row_stride, height, n)",
    ]
    arguments = ("extents", "x_data", "x_layout", "out_data", "out_layout")
    return function("transpose", arguments, body)


def gather() -> Source:
    """Return the kernel that reads where an index points; `step` is the stride it counts in."""

    def body(element: Element) -> list[str]:
        position = f"source_at + unsigned({element('index')} * step)"
        return [f"{element('out')} = source_data[{position}]"]

    views = [View("source"), View("index"), View("out")]
    return loop("strided", "gather", views, body, ("step",))


def scatter(operator: Operator | None, dtype: DType, table: Table) -> Source:
    """Return the kernel that writes where an index points, combining if there is an operator."""

    def body(element: Element) -> list[str]:
        target = f"out_data[out_at + unsigned({element('index')} * step)]"
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
