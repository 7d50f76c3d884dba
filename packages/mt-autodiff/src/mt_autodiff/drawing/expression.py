"""What is to be seen of an expression: its variables, what made each, values and derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mt_autodiff.core.backpropagation import V, derivatives, topological_sort
from mt_autodiff.core.errors import GraphFreedError, GraphTooLargeError
from mt_autodiff.core.mode import no_grad
from mt_autodiff.core.scalar import Scalar
from mt_autodiff.drawing.svg import Node, Svg, render

LONGEST = 14  # how many characters of a name a box shows

SYMBOLS = {"add": "+", "sub": "−", "neg": "−", "mul": "×", "div": "÷", "pow": "**"}
SYMBOLS |= {"lt": "<", "le": "≤", "gt": ">", "ge": "≥", "eq": "=", "ne": "≠"}
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
        TypeError: `result` is no Scalar, or `max_nodes` no whole number.
        GraphFreedError: an earlier backward freed the graph.
        GraphTooLargeError: there are more than `max_nodes` variables.
        CyclicGraphError: a variable was computed from itself.
    """
    if not isinstance(result, Scalar):
        raise TypeError(f"to_svg draws a Scalar; {result!r} was given.")
    variables, inputs = recorded_graph(result, _parents, repr(result), max_nodes)
    derivatives = _derivatives(result)
    nodes = [_node(variable, derivatives.get(variable, 0.0)) for variable in variables]
    nodes[0].kind += " result"
    return render(nodes, inputs, f"The computation of {_called(result)}")


def recorded_graph(
    result: V, parents: Callable[[V], Sequence[V]], called: str, max_nodes: int
) -> tuple[list[V], list[list[int]]]:
    """Return all variables behind `result`, and for each the indices of those it was made from.

    Args:
        result: the first of the variables.
        parents: what to show that a variable was made from, constants too.
        called: what messages call the result.
        max_nodes: how many variables there may be.

    Raises:
        TypeError: `max_nodes` is no whole number.
        GraphTooLargeError: there are more than `max_nodes` variables.
        CyclicGraphError: a variable was computed from itself.
    """
    if not isinstance(max_nodes, int):
        raise TypeError(f"max_nodes is a whole number; {max_nodes!r} was given.")
    variables = topological_sort(result) or [result]
    index = {variable: i for i, variable in enumerate(variables)}
    inputs = []
    for variable in variables:  # which grows by the constants
        made_from = parents(variable)
        for parent in made_from:
            if parent not in index:
                index[parent] = len(variables)
                variables.append(parent)
        inputs.append([index[parent] for parent in made_from])
    if len(variables) > max_nodes:
        raise GraphTooLargeError(
            f"{called} was computed from {len(variables) - 1} variables, and max_nodes is "
            f"{max_nodes}. Draw an intermediate one instead, or pass max_nodes={len(variables)}."
        )
    return variables, inputs


def _parents(variable: Scalar) -> tuple[Scalar, ...]:
    """Return what a variable was made from. As in backpropagation, nobody asks a constant."""
    return () if variable.is_constant() else tuple(variable.parents)


def _derivatives(result: Scalar) -> dict[Scalar, float]:
    """Return the derivative of `result` by each variable behind it, and leave all as it is."""
    try:
        with no_grad():
            return {
                variable: float(derivative)
                for variable, derivative in derivatives(result, 1.0, retain_graph=True).items()
            }
    except GraphFreedError as error:
        raise GraphFreedError(
            f"{result!r} cannot be drawn any more, for an earlier backward() has freed its graph. "
            "Draw it before, or call backward(retain_graph=True)."
        ) from error


def _node(variable: Scalar, derivative: float) -> Node:
    """Return what is to be seen of one variable."""
    name, shown, value = variable.name, on_one_line(variable.name or ""), _short(variable.data)
    kind, origin, operator = _origin(variable)
    lines = [f"{shown} = {value}" if shown else value]
    details = [f"{name}, {origin}" if name else origin, f"value: {variable.data}"]
    if not variable.is_constant():
        lines.append(f"∂ {_short(derivative)}")
        details.append(f"derivative of the result by it: {derivative}")
    return Node(kind, operator, lines, "\n".join(details))


def _origin(variable: Scalar) -> tuple[str, str, str]:
    """Return the kind of a variable, in words where it comes from, and the sign of what made it."""
    if variable.is_constant():
        return "constant", "constant", ""
    if variable.history is None:
        return "input", "input", ""
    made_by = variable.history.name
    arguments = ", ".join(map(_called, _parents(variable)))
    sign = SYMBOLS.get(made_by, on_one_line(made_by))
    return "operation", f"made by {made_by}({arguments})", sign


def _called(variable: Scalar) -> str:
    """Return the name of a variable, or else its value."""
    return variable.name or _short(variable.data)


def _short(number: float) -> str:
    return f"{number + 0.0:.4g}"  # adding zero takes the sign from a zero


def on_one_line(name: str) -> str:
    """Return a name on one line, and no longer than a box shows."""
    name = " ".join(name.split())
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
