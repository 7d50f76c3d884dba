"""Backpropagation through a recorded graph, one picture for each variable that is visited.

The order and the derivatives are those of `mt_autodiff`; this module only draws them.
"""

from __future__ import annotations

from drawings.picture import Picture, Steps
from mt_autodiff import Scalar, derivatives, no_grad
from mt_autodiff.drawing.expression import SYMBOLS, recorded_graph
from mt_autodiff.drawing.svg import Node, render

STYLE = """
.mt-graph .waiting .box{stroke-dasharray:2 4}
.mt-graph .now .box{stroke:#d1622b;stroke-width:4}
.mt-graph .now .cap{fill:#b3501f}
"""


def backward_steps(result: Scalar) -> Steps:
    """Draw the steps of `result.backward()`, without storing or freeing anything."""
    with no_grad():
        order = [
            (variable, float(total), [(p, float(part)) for p, part in variable.chain_rule(total)])
            for variable, total in derivatives(result, 1.0, retain_graph=True).items()
        ]
    known = {result: 1.0}
    widths = {variable: len(_derivative(total)) for variable, total, _ in order}
    visited: set[Scalar] = set()
    pictures = []
    for variable, total, parts in order:
        visited.add(variable)
        for parent, part in parts:
            known[parent] = known.get(parent, 0.0) + part
        caption = _caption(variable, total, parts)
        pictures.append((caption, _draw(result, known, widths, visited, variable, caption)))
    return Steps(pictures)


def _caption(variable: Scalar, total: float, parts: list[tuple[Scalar, float]]) -> str:
    """Describe the visit of a variable."""
    name = _name(variable)
    if variable.history is None:
        return f"{name} is a leaf, and stores its derivative {total:.4g}."
    passed = " and ".join(f"{part:.4g} to {_name(parent)}" for parent, part in parts)
    made = f"{name}, made by {variable.history.name}, has the derivative {total:.4g}"
    text = f"{made}: it passes {passed}."
    return text if variable.name else text[0].upper() + text[1:]


def _name(variable: Scalar) -> str:
    return variable.name or f"the box with {variable.data:.4g}"


def _draw(
    result: Scalar,
    known: dict[Scalar, float],
    widths: dict[Scalar, int],
    visited: set[Scalar],
    now: Scalar,
    alt: str,
) -> Picture:
    """Draw the graph while one variable is visited."""
    variables, inputs = recorded_graph(
        result,
        lambda each: () if each.is_constant() else tuple(each.parents),
        f"{result.data:.4g}",
        80,
    )
    nodes = []
    for variable in variables:
        waits = not variable.is_constant() and variable not in visited
        mark = "now" if variable is now else "waiting" if waits else ""
        nodes.append(_node(variable, known.get(variable), widths.get(variable, 0), mark))
    nodes[0].kind += " result"
    drawing = str(render(nodes, inputs, alt)).replace("</style>", f"{STYLE}</style>")
    return Picture(drawing, alt)


def _derivative(value: float | None) -> str:
    return "∂ ?" if value is None else f"∂ {value + 0.0:.4g}"


def _node(variable: Scalar, derivative: float | None, width: int, mark: str) -> Node:
    value = f"{variable.data + 0.0:.4g}"
    lines = [f"{variable.name} = {value}" if variable.name else value]
    kind, sign = "constant", ""
    if not variable.is_constant():
        kind = "input" if variable.history is None else "operation"
        lines.append(_derivative(derivative).center(width, "\N{NO-BREAK SPACE}"))
        if variable.history is not None:
            sign = SYMBOLS.get(variable.history.name, variable.history.name)
    return Node(f"{kind} {mark}".strip(), sign, lines, "")
