"""Evaluation: compute what a graph says, with a stage's own functions if it has them.

The table stands; from here on its graphs are walked over, three times. The first walk computes. It
also writes rows out: evaluated on symbols, with the
functions that a compiler knows, a graph becomes one that uses nothing else.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from inspect import Parameter, Signature
from typing import Any

from mt_operators.core.elementary import ELEMENTARY, ask
from mt_operators.core.errors import TracingError, nearest
from mt_operators.core.formula import Formula
from mt_operators.core.graph import PYTHON, Graph
from mt_operators.core.table import OPERATORS
from mt_operators.core.tracing import Recorder

Spelling = Mapping[str, Callable[..., Any]]
"""How somebody computes operators of the table: name to function."""

_PYTHON: Spelling = {
    **{name: getattr(operator, name) for name in PYTHON if name not in ("and", "or")},
    "and": operator.and_,
    "or": operator.or_,
    "abs": abs,
}
"""The operations that are Python's operators."""


def evaluate(graph: Graph, operands: Sequence[Any], spelling: Spelling | None = None) -> list[Any]:
    """Return the outputs of a graph.

    Args:
        graph: the graph.
        operands: a value for each of its arguments.
        spelling: functions for the elementary operators, and for any other that is not to be
            written out; None for those of the table, which ask the values.

    Raises:
        TracingError: `spelling` lacks an elementary function.
    """
    values = evaluated(graph, operands, spelling)
    return [values[i] for i in graph.outputs]


def evaluated(graph: Graph, operands: Sequence[Any], spelling: Spelling | None = None) -> list[Any]:
    """Return the value of every expression of a graph; see `evaluate`."""
    values: list[Any] = []
    for expression in graph.expressions:
        name = expression.operation
        if name == "argument":
            values.append(operands[int(expression.number)])
        elif name == "constant":
            values.append(expression.number)
        else:
            function = _PYTHON.get(name) or _spelled(name, spelling)
            values.append(function(*[values[i] for i in expression.operands]))
    return values


def apply(name: str, *operands: Any) -> Any:
    """Return what an operator of the table makes of operands; one that can say so is asked."""
    answer = ask(name, operands)
    return OPERATORS[name].function(*operands) if answer is NotImplemented else answer


def _spelled(name: str, spelling: Spelling | None) -> Callable[..., Any]:
    """Return the function of an operator: the table's, a spelling's, or what it is written with."""
    if spelling is None:
        return partial(apply, name)
    if name in spelling:
        return spelling[name]
    if name in ELEMENTARY:
        raise TracingError(
            f"this spelling has no {name!r}; it spells {', '.join(sorted(spelling))}."
            f"{nearest(name, spelling)}"
        )
    graph = OPERATORS[name].value.graph
    return lambda *operands: evaluate(graph, operands, spelling)[0]


def expanded(graph: Graph, atomic: Collection[str] = ()) -> Graph:
    """Return a graph of elementary operations, and of the operators that are called `atomic`."""
    names = {*ELEMENTARY, *atomic}
    if all(not e.operands or e.operation in names | _PYTHON.keys() for e in graph.expressions):
        return graph
    recorder = Recorder("expanded", graph.arity)
    spelling = {name: partial(apply, name) for name in names}
    return recorder.graph(evaluate(graph, recorder.arguments, spelling))


def written_with(formula: Formula, atomic: Collection[str] = ()) -> Graph:
    """Return the graph of a formula in the steps that a compiler knows; see `expanded`.

    The value of an operator that is `atomic` is one step itself: the operator's own graph says what
    it is written with.
    """
    if formula.name in atomic and is_value(formula):
        recorder = Recorder(formula.name, formula.arity)
        return recorder.graph([apply(formula.name, *recorder.arguments)])
    return expanded(formula.graph, atomic)


def is_value(formula: Formula) -> bool:
    """Whether a formula is the value of the operator of the table that has its name."""
    row = OPERATORS.get(formula.name)
    return row is not None and row.value is formula


class Evaluation:
    """A graph as a function of its arguments, for an operator that is no row of the table.

    Stage 2 needs it; see `derived` in the next file.
    """

    def __init__(self, name: str, parameters: Sequence[str], graph: Graph) -> None:
        self.graph = graph
        self.__name__ = name
        self.__signature__ = Signature(
            [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in parameters]
        )

    def __call__(self, *operands: Any) -> Any:
        """Return its output, or a tuple of several."""
        results = evaluate(self.graph, operands)
        return tuple(results) if len(results) > 1 else results[0]
