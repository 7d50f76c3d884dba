"""Differentiation: the partial derivatives of a graph, as graphs.

The second walk. The derivative of the output by each expression is the sum of what
comes from all that use it: by the derivative of each of these, times the partial derivative of its
operator, which the row of the table has. This is the chain rule in reverse, what stage 1's
`backpropagate` does with numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_operators.core.formula import Operator, Source, zero
from mt_operators.core.graph import Graph
from mt_operators.core.lowering import Evaluation, evaluate, evaluated
from mt_operators.core.table import OPERATORS
from mt_operators.core.tracing import Recorder


def derivative(graph: Graph, argument: int) -> Graph:
    """Return the partial derivative of a graph with one output, by one of its arguments.

    It is a graph of the same arguments and, last, of the output, as in a row of the table.
    """
    recorder = Recorder("derivative", graph.arity + 1)
    values = evaluated(graph, recorder.arguments)
    (output,) = graph.outputs
    if output != argument:
        values[output] = recorder.arguments[-1]
    varying = {argument}
    for position, expression in enumerate(graph.expressions):
        if not varying.isdisjoint(expression.operands):
            varying.add(position)
    shares: dict[int, Any] = {output: 1.0} if output in varying else {}
    for position, expression in reversed(list(enumerate(graph.expressions))):
        row = OPERATORS.get(expression.operation)  # None also for logic, which only has steps
        if row is None or position not in shares:
            continue
        known = [values[i] for i in (*expression.operands, position)]
        for operand, partial in zip(expression.operands, row.partials, strict=True):
            if operand in varying and partial is not zero:
                share = row.share(shares[position], partial(*known))
                shares[operand] = shares[operand] + share if operand in shares else share
    return recorder.graph([shares.get(argument, 0.0)])


def derived(name: str, parameters: Sequence[str], graph: Graph) -> Operator:
    """Return a graph as an operator, whose partial derivatives are worked out when needed.

    Stage 2 needs it, for gradients that are differentiated again and for functions that it fuses.

    Args:
        name: what to call it.
        parameters: the names of its arguments.
        graph: a graph with one output, a real number.
    """
    partials = [_partial(graph, argument) for argument in range(graph.arity)]
    return Operator(name, Evaluation(name, parameters, graph), tuple(partials), result="real")


def _partial(graph: Graph, argument: int) -> Source:
    if argument not in graph.reads:
        return zero
    by_argument = functools.cache(lambda: derivative(graph, argument))
    return lambda *known: evaluate(by_argument(), known)[0]
