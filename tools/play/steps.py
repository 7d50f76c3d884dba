"""Backpropagation node by node, with a drawing of the graph after each step.

The order and the derivatives are those of `mt_autodiff`; this module only records them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt_autodiff import Scalar, derivatives, no_grad
from mt_autodiff.drawing.expression import SYMBOLS, recorded_graph
from mt_autodiff.drawing.svg import Node, Svg, render

MOST_NODES = 80
"""The maximum number of Scalars to draw."""

STYLE = """
.mt-graph .waiting .box{stroke-dasharray:2 4}
.mt-graph .waiting .derivative{opacity:.55}
.mt-graph .now .box{stroke:#d1622b;stroke-width:4}
.mt-graph .now .cap{fill:#d1622b}
.mt-graph .given .box{stroke:#d1622b;stroke-width:2.5}
"""


@dataclass(frozen=True)
class Step:
    """One step of backpropagation, at one Scalar.

    Attributes:
        variable: the Scalar, whose derivative is complete.
        derivative: the derivative of the result with respect to it.
        shares: the contributions to the derivatives of its inputs.
        slopes: the partial derivatives with respect to its inputs.
    """

    variable: Scalar
    derivative: float
    shares: tuple[tuple[Scalar, float], ...]
    slopes: tuple[float, ...]


def steps_of(result: Scalar) -> list[Step]:
    """Return the steps of backpropagation, in order, without storing or freeing anything."""
    with no_grad():
        return [
            Step(
                variable,
                float(total),
                tuple((parent, float(share)) for parent, share in variable.chain_rule(total)),
                tuple(float(slope) for _, slope in variable.chain_rule(1.0)),
            )
            for variable, total in derivatives(result, 1.0, retain_graph=True).items()
        ]


def describe_step(step: Step, number: int) -> str:
    """Return a Markdown sentence on a step."""
    name = _called(step.variable)
    if step.variable.is_leaf():
        return f"**{number}.** {name} is an input: its derivative {step.derivative:.4g} is stored."
    shares = " and ".join(
        f"{_called(parent)} gets {share:.4g} ({step.derivative:.4g} × {slope:.4g})"
        for (parent, share), slope in zip(step.shares, step.slopes, strict=True)
    )
    operation = step.variable.history.name if step.variable.history else ""
    return (
        f"**{number}.** {name}, the result of `{operation}`, has its complete derivative, "
        f"{step.derivative:.4g}: {shares or 'no input needs a derivative'}."
    )


def _called(variable: Scalar) -> str:
    return f"`{variable.name}`" if variable.name else f"the node {variable.data:.4g}"


def draw_steps(result: Scalar, steps: Sequence[Step], done: int) -> Svg:
    """Draw a graph after some steps of backpropagation.

    Args:
        result: the Scalar that was differentiated.
        steps: the result of `steps_of`.
        done: the number of steps done; the last is highlighted, with the inputs that it changed.

    Raises:
        GraphTooLargeError: there are too many Scalars to draw.
    """
    variables, inputs = recorded_graph(
        result,
        lambda each: () if each.is_constant() else tuple(each.parents),
        f"{result.data:.4g}",
        MOST_NODES,
    )
    known: dict[Scalar, float] = {result: 1.0}
    for step in steps[:done]:
        for parent, share in step.shares:
            known[parent] = known.get(parent, 0.0) + share
    finished = {step.variable for step in steps[:done]}
    now = steps[done - 1] if done else None
    given = {parent for parent, _ in now.shares} if now else set()
    nodes = []
    for variable in variables:
        if now is not None and variable is now.variable:
            mark = "now"
        elif variable in given:
            mark = "given"
        else:
            mark = "" if variable in finished or variable.is_constant() else "waiting"
        nodes.append(_node(variable, known.get(variable), mark))
    nodes[0].kind += " result"
    title = f"Backpropagation after {done} of {len(steps)} steps"
    return Svg(render(nodes, inputs, title).replace("</style>", f"{STYLE}</style>"))


def _node(variable: Scalar, derivative: float | None, mark: str) -> Node:
    value = f"{variable.data + 0.0:.4g}"
    lines = [f"{variable.name} = {value}" if variable.name else value]
    kind, sign = "constant", ""
    if not variable.is_constant():
        kind = "input" if variable.history is None else "operation"
        lines.append("∂ ?" if derivative is None else f"∂ {derivative + 0.0:.4g}")
        if variable.history is not None:
            sign = SYMBOLS.get(variable.history.name, variable.history.name)
    return Node(f"{kind} {mark}".strip(), sign, lines, "")
