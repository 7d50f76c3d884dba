"""Differentiation: compute the partial derivatives of a graph, as graphs.

The gradient of an expression is a sum over its uses: the gradient of each use, times the partial
derivative of that operator. This is the chain rule, applied from the output back to the arguments,
as stage 1's `backpropagate` does with numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Any

from mt_operators.core.graph import Graph
from mt_operators.core.lowering import evaluate, evaluated
from mt_operators.core.row import Function, Operator, zero
from mt_operators.core.table import OPERATORS
from mt_operators.core.tracing import Recorder


def derivative(graph: Graph, argument: int) -> Graph:
    """Return the partial derivative of a graph with one output, with respect to one argument.

    The result takes the arguments of the graph, followed by the output of the graph, as in a row of
    the table.

    Args:
        graph: a graph with one output.
        argument: the index of the argument.
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
    gradients: dict[int, Any] = {output: 1.0} if output in varying else {}
    for position, expression in reversed(list(enumerate(graph.expressions))):
        row = OPERATORS.get(expression.operation)  # None also for `and` and `or`
        if row is None or position not in gradients:
            continue
        known = [values[i] for i in (*expression.operands, position)]
        for operand, partial in zip(expression.operands, row.partials, strict=True):
            if operand in varying and partial is not zero:
                part = row.vjp(gradients[position], partial(*known))
                gradients[operand] = gradients[operand] + part if operand in gradients else part
    return recorder.graph([gradients.get(argument, 0.0)])


class Evaluation:
    """A graph as a function of its arguments."""

    def __init__(self, name: str, parameters: Sequence[str], graph: Graph) -> None:
        self.graph = graph
        self.__name__ = name
        self.__signature__ = Signature(
            [Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in parameters]
        )

    def __call__(self, *operands: Any) -> Any:
        """Return the output, or a tuple if there are several outputs."""
        results = evaluate(self.graph, operands)
        return tuple(results) if len(results) > 1 else results[0]


def derived(name: str, parameters: Sequence[str], graph: Graph) -> Operator:
    """Return an operator that evaluates a graph with one output; see `derivative`.

    The partial derivatives are computed when they are first called. Stage 2 uses this function for
    higher derivatives and for fused functions.

    Args:
        name: the name of the operator.
        parameters: the names of its arguments.
        graph: the graph of its value.
    """
    partials = [_partial(graph, argument) for argument in range(graph.arity)]
    return Operator(name, Evaluation(name, parameters, graph), tuple(partials), result="real")


def _partial(graph: Graph, argument: int) -> Function:
    if argument not in graph.reads:
        return zero
    slope = functools.cache(lambda: derivative(graph, argument))
    return lambda *known: evaluate(slope(), known)[0]
