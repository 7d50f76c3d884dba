"""`to_svg` and the conversion of recorded graphs to nodes of a drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mt_autodiff.core.backpropagation import V, derivatives, topological_sort
from mt_autodiff.core.errors import GraphFreedError, GraphTooLargeError
from mt_autodiff.core.mode import no_grad
from mt_autodiff.core.scalar import Scalar
from mt_autodiff.drawing.svg import Node, Svg, render

MAX_NAME_LENGTH = 14  # how many characters of a name a box shows

SYMBOLS = {"add": "+", "sub": "−", "neg": "−", "mul": "×", "div": "÷", "pow": "**"}
SYMBOLS |= {"lt": "<", "le": "≤", "gt": ">", "ge": "≥", "eq": "=", "ne": "≠"}
"""The operators drawn with a symbol; all others are drawn with their name."""


def to_svg(result: Scalar, *, max_nodes: int = 300) -> Svg:
    """Draw the graph that computed `result`, with all values and derivatives.

    Write the text to a file, or let a notebook display it. Drawing needs no earlier `backward` and
    changes nothing. Edges enter an operator in the order of its arguments, from top to bottom.

    Args:
        result: the Scalar whose graph to draw.
        max_nodes: the largest number of variables to draw.

    Returns:
        A standalone SVG document; the same expression always gives the same document.

    Raises:
        TypeError: `result` is not a Scalar, or `max_nodes` is not an integer.
        GraphFreedError: an earlier `backward` freed the graph.
        GraphTooLargeError: there are more than `max_nodes` variables.
        CyclicGraphError: a variable was computed from itself.
    """
    if not isinstance(result, Scalar):
        raise TypeError(f"to_svg draws a Scalar, got {result!r}.")
    variables, inputs = recorded_graph(result, _parents, repr(result), max_nodes)
    derivatives = _derivatives(result)
    nodes = [_node(variable, derivatives.get(variable, 0.0)) for variable in variables]
    nodes[0].kind += " result"
    return render(nodes, inputs, f"The computation of {_label(result)}")


def recorded_graph(
    result: V, parents: Callable[[V], Sequence[V]], called: str, max_nodes: int
) -> tuple[list[V], list[list[int]]]:
    """Return all variables of the graph of `result`, and for each the indices of its parents.

    Args:
        result: the variable whose graph to return; it comes first.
        parents: returns the parents to draw for a variable, including constants.
        called: the name of the result in error messages.
        max_nodes: the largest number of variables.

    Raises:
        TypeError: `max_nodes` is not an integer.
        GraphTooLargeError: there are more than `max_nodes` variables.
        CyclicGraphError: a variable was computed from itself.
    """
    if not isinstance(max_nodes, int):
        raise TypeError(f"max_nodes must be an integer, got {max_nodes!r}.")
    variables = topological_sort(result) or [result]
    index = {variable: i for i, variable in enumerate(variables)}
    inputs = []
    for variable in variables:  # constants are appended during the loop
        sources = parents(variable)
        for parent in sources:
            if parent not in index:
                index[parent] = len(variables)
                variables.append(parent)
        inputs.append([index[parent] for parent in sources])
    if len(variables) > max_nodes:
        raise GraphTooLargeError(
            f"{called} was computed from {len(variables) - 1} variables, but max_nodes is "
            f"{max_nodes}. Draw an intermediate result, or pass max_nodes={len(variables)}."
        )
    return variables, inputs


def _parents(variable: Scalar) -> tuple[Scalar, ...]:
    """Return the parents of a variable; those of constants are not read, as in backpropagation."""
    return () if variable.is_constant() else tuple(variable.parents)


def _derivatives(result: Scalar) -> dict[Scalar, float]:
    """Return the derivative of `result` with respect to each variable; change no variable."""
    try:
        with no_grad():
            return {
                variable: float(derivative)
                for variable, derivative in derivatives(result, 1.0, retain_graph=True).items()
            }
    except GraphFreedError as error:
        raise GraphFreedError(
            f"{result!r} cannot be drawn: an earlier backward() has freed its graph. "
            "Draw it before backward(), or call backward(retain_graph=True)."
        ) from error


def _node(variable: Scalar, derivative: float) -> Node:
    """Return the node that shows a variable."""
    name, shown, value = variable.name, on_one_line(variable.name or ""), _short(variable.data)
    kind, origin, operator = _origin(variable)
    lines = [f"{shown} = {value}" if shown else value]
    details = [f"{name}, {origin}" if name else origin, f"value: {variable.data}"]
    if not variable.is_constant():
        lines.append(f"∂ {_short(derivative)}")
        details.append(f"derivative of the result with respect to it: {derivative}")
    return Node(kind, operator, lines, "\n".join(details))


def _origin(variable: Scalar) -> tuple[str, str, str]:
    """Return a variable's kind, a description of its origin, and the symbol of its operator."""
    if variable.is_constant():
        return "constant", "constant", ""
    if variable.history is None:
        return "input", "input", ""
    operator = variable.history.name
    arguments = ", ".join(map(_label, _parents(variable)))
    symbol = SYMBOLS.get(operator, on_one_line(operator))
    return "operation", f"made by {operator}({arguments})", symbol


def _label(variable: Scalar) -> str:
    """Return the name of a variable, or its value if it has no name."""
    return variable.name or _short(variable.data)


def _short(number: float) -> str:
    return f"{number + 0.0:.4g}"  # + 0.0 turns -0.0 into 0.0


def on_one_line(name: str) -> str:
    """Return a name on one line, shortened to fit in a box."""
    name = " ".join(name.split())
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
