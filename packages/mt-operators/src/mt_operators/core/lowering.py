"""Lowering: evaluate a graph with a backend's functions, or rewrite it into known operations.

A backend implements some operators, at least the elementary ones. Its *lowering table* maps their
names to functions. Every other operator is expanded into its definition.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from mt_operators.core.elementary import ELEMENTARY, dispatch
from mt_operators.core.errors import TracingError, nearest
from mt_operators.core.graph import PYTHON, Graph
from mt_operators.core.row import Formula
from mt_operators.core.table import OPERATORS
from mt_operators.core.tracing import Recorder, graph_of

Lowering = Mapping[str, Callable[..., Any]]
"""A lowering table: a mapping from operator names to functions."""

_PYTHON: Lowering = {
    **{name: getattr(operator, name) for name in PYTHON if name not in ("and", "or")},
    "and": operator.and_,
    "or": operator.or_,
    "abs": abs,
}
"""The operations that are Python operators."""


def evaluate(graph: Graph, operands: Sequence[Any], lowering: Lowering | None = None) -> list[Any]:
    """Return the outputs of a graph.

    Args:
        graph: the graph.
        operands: the values of its arguments.
        lowering: functions for the elementary operators, and optionally for others; None uses the
            functions of the table, which dispatch.

    Raises:
        TracingError: `lowering` lacks an elementary operator that the graph needs.
    """
    values = evaluated(graph, operands, lowering)
    return [values[i] for i in graph.outputs]


def evaluated(graph: Graph, operands: Sequence[Any], lowering: Lowering | None = None) -> list[Any]:
    """Return the value of every expression of a graph; see `evaluate`."""
    values: list[Any] = []
    for expression in graph.expressions:
        name = expression.operation
        if name == "argument":
            values.append(operands[int(expression.number)])
        elif name == "constant":
            values.append(expression.number)
        else:
            function = _PYTHON.get(name) or _lowered(name, lowering)
            values.append(function(*[values[i] for i in expression.operands]))
    return values


def apply(name: str, *operands: Any) -> Any:
    """Apply an operator of the table, with the `__operator__` of an operand if one has it."""
    result = dispatch(name, operands)
    return OPERATORS[name].function(*operands) if result is NotImplemented else result


def _lowered(name: str, lowering: Lowering | None) -> Callable[..., Any]:
    if lowering is None:
        return partial(apply, name)
    if name in lowering:
        return lowering[name]
    if name in ELEMENTARY:
        raise TracingError(
            f"the lowering table has no {name!r}; it has {', '.join(sorted(lowering))}."
            f"{nearest(name, lowering)}"
        )
    graph = graph_of(OPERATORS[name].value)
    return lambda *operands: evaluate(graph, operands, lowering)[0]


def expanded(graph: Graph, atomic: Collection[str] = ()) -> Graph:
    """Expand all operators of a graph except the elementary ones and those in `atomic`."""
    names = {*ELEMENTARY, *atomic}
    if all(not e.operands or e.operation in names | _PYTHON.keys() for e in graph.expressions):
        return graph
    recorder = Recorder("expanded", graph.arity)
    lowering = {name: partial(apply, name) for name in names}
    return recorder.graph(evaluate(graph, recorder.arguments, lowering))


def lowered(formula: Formula, atomic: Collection[str] = ()) -> Graph:
    """Return the graph of a formula in operations that a compiler knows; see `expanded`."""
    if formula.name in atomic and is_value(formula):
        recorder = Recorder(formula.name, formula.arity)
        return recorder.graph([apply(formula.name, *recorder.arguments)])
    return expanded(graph_of(formula), atomic)


def is_value(formula: Formula) -> bool:
    """Return whether a formula is the value of the operator of its name in the table."""
    row = OPERATORS.get(formula.name)
    return row is not None and row.value is formula
