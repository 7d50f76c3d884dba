"""Backpropagation node by node, and how its picture looks after each step.

The order, the derivatives and their shares are those of `mt_autodiff`; here they are only written
down as they come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mt_autodiff import Scalar, derivatives, no_grad
from mt_autodiff.drawing.expression import SYMBOLS, recorded_graph
from mt_autodiff.drawing.svg import Node, Svg, render

MOST_NODES = 80
"""How many Scalars are drawn at most."""

STYLE = """
.mt-graph .waiting .box{stroke-dasharray:2 4}
.mt-graph .waiting .derivative{opacity:.55}
.mt-graph .now .box{stroke:#d1622b;stroke-width:4}
.mt-graph .now .cap{fill:#d1622b}
.mt-graph .given .box{stroke:#d1622b;stroke-width:2.5}
"""


@dataclass(frozen=True)
class Step:
    """What backpropagation does at one Scalar.

    Attributes:
        variable: whose derivative is complete.
        derivative: of the result, by this Scalar.
        shares: what it hands on, to each Scalar that it was made from.
        slopes: the partial derivatives by which these came about.
    """

    variable: Scalar
    derivative: float
    shares: tuple[tuple[Scalar, float], ...]
    slopes: tuple[float, ...]


def steps_of(result: Scalar) -> list[Step]:
    """Return what backpropagation does, in its order. Nothing is stored or freed."""
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


def told(step: Step, number: int) -> str:
    """Return what a step does, in a sentence of Markdown."""
    name = _called(step.variable)
    if step.variable.is_leaf():
        return f"**{number}.** {name} is an input: its derivative {step.derivative:.4g} is kept."
    shares = " and ".join(
        f"{_called(parent)} gets {share:.4g} ({step.derivative:.4g} × {slope:.4g})"
        for (parent, share), slope in zip(step.shares, step.slopes, strict=True)
    )
    made_by = step.variable.history.name if step.variable.history else ""
    return (
        f"**{number}.** {name}, made by `{made_by}`, has all of its derivative, "
        f"{step.derivative:.4g}: {shares or 'nobody gets a share'}."
    )


def _called(variable: Scalar) -> str:
    return f"`{variable.name}`" if variable.name else f"the node {variable.data:.4g}"


def draw_steps(result: Scalar, steps: Sequence[Step], done: int) -> Svg:
    """Draw a graph as it is when so many steps of backpropagation are done.

    Args:
        result: the Scalar that was differentiated.
        steps: all that `steps_of` returns.
        done: how many of them are done; the last one is marked, and what got a share by it.

    Raises:
        GraphTooLargeError: there are more Scalars than can be looked at.
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
