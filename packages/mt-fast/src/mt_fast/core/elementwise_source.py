"""Kernels of formulas: the statements of `rendering.py` in the loops of `loop_source.py`."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from dataclasses import replace

from mt_fast.core.loop_source import Element, Form, View, loop
from mt_fast.core.rendering import (
    COMPUTED,
    Table,
    computation_type,
    converted,
    render,
    traced,
)
from mt_fast.core.source import Source
from mt_operators import Formula
from mt_operators.core.graph import PYTHON, Graph
from mt_tensor import DType

_RESERVED = (
    "lo hi i n sizes unit index start height row out tile scratch transpose_tile unravel "
    "position first_row next_row row_at unsigned larger smaller _ min max range abs inf nan"
)
"""Names of a kernel's own variables, and of the functions that it calls."""

_GENERATED = re.compile(
    r"(t|n|i|rest|out)\d+|.*_(data|layout|row|scratch|number|value|at|first|start|step|s\d)"
)


def argument_names(formula: Formula, table: Table) -> Sequence[str]:
    """Return names for the arguments of a formula: its own parameters' if no kernel uses these."""
    names = formula.parameters
    usable = len(set(names)) == formula.arity and all(
        name not in _RESERVED.split()
        and name not in table
        and not _GENERATED.fullmatch(name)
        and name.isascii()
        and not keyword.iskeyword(name)
        and name not in COMPUTED
        for name in names
    )
    return names if usable else [f"x{i}" for i in range(formula.arity)]


def elementwise(
    formula: Formula,
    inputs: Sequence[DType],
    outputs: Sequence[DType],
    *,
    table: Table,
    form: Form,
    repeats: Sequence[bool],
    transposed: Sequence[bool] | None = None,
) -> Source:
    """Return the kernel that computes a formula for every element.

    Args:
        formula: what to compute for each element.
        inputs: the dtype of each input.
        outputs: the dtype of each output.
        table: the lowering table.
        form: the form of the loop.
        repeats: for each input, whether it stays at one element in the innermost loop.
        transposed: for each input, whether its elements in a row come from a column; None if no
            input's do.
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

    columns = (False,) * len(names) if transposed is None else transposed
    views = [View(*view) for view in zip(names, repeats, columns, strict=True)]
    views += [View(name) for name in results]
    kinds = {dtype.name, *(stored.name for stored in (*inputs, *outputs))}
    suffix = "_".join((dtype.name, *sorted(kinds - {dtype.name}), form))
    kernel = loop(form, f"{formula.name}_{suffix}", views, body)
    return replace(kernel, is_memory_bound=_is_memory_bound(graph, len(views)))


def _is_memory_bound(graph: Graph, views: int) -> bool:
    """Whether there are only a few simple steps for each element that is read or written."""
    steps = [step.operation for step in graph.expressions[graph.arity :]]
    return len(steps) <= views and set(steps) <= {*PYTHON, "constant"}
