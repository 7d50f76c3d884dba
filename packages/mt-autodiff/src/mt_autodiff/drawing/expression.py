"""What is to be seen of an expression: its variables, what made each, values and derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from mt_autodiff.backpropagation import V, derivatives, topological_sort
from mt_autodiff.drawing.svg import Node, Svg, render
from mt_autodiff.errors import GraphFreedError, GraphTooLargeError
from mt_autodiff.mode import no_grad
from mt_autodiff.scalar import Scalar

SYMBOLS = {
    "add": "+",
    "sub": "−",
    "neg": "−",
    "mul": "×",
    "div": "÷",
    "pow": "**",
    "lt": "<",
    "le": "≤",
    "gt": ">",
    "ge": "≥",
    "eq": "=",
    "ne": "≠",
}
"""The operators with a sign of their own; all others are shown by their names."""


def to_svg(result: Scalar, *, max_nodes: int = 300) -> Svg:
    """Draw how `result` was computed, with every value and every derivative.

    Write the text to a file, or let a notebook show it. Drawing changes nothing: it needs no
    `backward` before, and any may follow. Edges arrive at an operator in the order of its
    arguments, from top to bottom.

    Args:
        result: the Scalar to draw, with all that it was computed from.
        max_nodes: how many variables to draw at most.

    Returns:
        A standalone SVG document, the same for the same expression.

    Raises:
        GraphFreedError: an earlier backward freed the graph.
        GraphTooLargeError: there are more than `max_nodes` variables.
        CyclicGraphError: a variable was computed from itself.
    """
    variables, inputs = _graph(result)
    if len(variables) > max_nodes:
        raise GraphTooLargeError(
            f"{result!r} was computed from {len(variables) - 1} variables, and max_nodes is "
            f"{max_nodes}. Draw an intermediate one instead, or pass max_nodes={len(variables)}."
        )
    found = _derivatives(result)
    nodes = [
        _node(variable, [variables[i] for i in made_from], found.get(variable.unique_id, 0.0))
        for variable, made_from in zip(variables, inputs, strict=True)
    ]
    return render(nodes, inputs, f"The computation of {_called(result)}")


def _graph(result: V) -> tuple[list[V], list[list[int]]]:
    """Return all variables behind `result`, and for each the indices of those it was made from.

    As in backpropagation nobody asks where a constant came from.
    """
    variables = topological_sort(result) or [result]
    index = {variable.unique_id: i for i, variable in enumerate(variables)}
    inputs: list[list[int]] = []
    for variable in variables:  # which grows by the constants
        parents = () if variable.is_constant() else variable.parents
        for parent in parents:
            if parent.unique_id not in index:
                index[parent.unique_id] = len(variables)
                variables.append(parent)  # type: ignore[arg-type]
        inputs.append([index[parent.unique_id] for parent in parents])
    return variables, inputs


def _derivatives(result: Scalar) -> dict[int, float]:
    """Return the derivative of `result` by each variable behind it, and leave all as it is."""
    try:
        with no_grad():
            return {
                variable.unique_id: float(derivative)
                for variable, derivative in derivatives(result, 1.0, retain_graph=True)
            }
    except GraphFreedError as error:
        raise GraphFreedError(
            f"{result!r} cannot be drawn any more, for an earlier backward() has freed its graph. "
            "Draw it before, or call backward(retain_graph=True)."
        ) from error


def _node(variable: Scalar, made_from: Sequence[Scalar], derivative: float) -> Node:
    """Return what is to be seen of one variable."""
    history = None if variable.is_constant() else variable.history
    if history:
        arguments = ", ".join(_called(source) for source in made_from)
        kind, origin = "operation", f"made by {history.name}({arguments})"
    else:
        kind = origin = "constant" if variable.is_constant() else "input"
    details = [f"{variable.name}, {origin}" if variable.name else origin, f"value: {variable.data}"]
    if not variable.is_constant():
        details.append(f"derivative of the result by it: {derivative}")
    return Node(
        kind,
        variable.name or "",
        value=_short(variable.data),
        derivative="" if variable.is_constant() else _short(derivative),
        operator=SYMBOLS.get(history.name, history.name) if history else "",
        details="\n".join(details),
    )


def _called(variable: Scalar) -> str:
    """Return the name of a variable, or else its value."""
    return variable.name or _short(variable.data)


def _short(number: float) -> str:
    return f"{number + 0.0:.4g}"  # adding zero takes the sign from a zero
