"""Kernels that move elements: copies, gather and scatter."""

from __future__ import annotations

from mt_fast.core.loop_source import Element, Form, View, loop
from mt_fast.core.rendering import Table, converted, render, traced
from mt_fast.core.source import Source
from mt_operators import Operator
from mt_tensor import DType


def copy(source: DType, target: DType, *, form: Form, repeats: bool) -> Source:
    """Return the kernel that copies and converts elements."""

    def body(element: Element) -> list[str]:
        return [f"{element('out')} = {converted(element('x'), source, target)}"]

    name = f"copy_{source.name}_to_{target.name}_{form}" if source is not target else f"copy_{form}"
    read = View("x", repeats and form != "strided", transposed=form == "transposed")
    return loop(form, name, [read, View("out")], body)


def gather() -> Source:
    """Return the kernel of gather; `step` is the stride of the dimension that the index counts."""

    def body(element: Element) -> list[str]:
        position = f"source_at + unsigned({element('index')} * step)"
        return [f"{element('out')} = source_data[{position}]"]

    views = [View("source"), View("index"), View("out")]
    return loop("strided", "gather", views, body, ("step",))


def scatter(operator: Operator | None, dtype: DType, table: Table) -> Source:
    """Return the kernel of scatter; an operator, if any, combines old and new elements."""

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
