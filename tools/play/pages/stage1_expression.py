"""An expression: its graph, its derivatives, and backpropagation node by node.

Input is parsed by `play.expressions`, and evaluated on Scalars.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from mt_autodiff import AutodiffError, Scalar, central_difference
from mt_autodiff.drawing import to_svg
from play.controls import move
from play.expressions import Expression, ExpressionError, number, parse
from play.showing import show_error, show_numbers, show_svg
from play.steps import MOST_NODES, Step, describe_step, draw_steps, steps_of

FIRST = "x * y + exp(-x)"
EXAMPLES = (FIRST, "(x + y) * (x + y)", "sigmoid(w * x + b)", "log(x) / y", "relu(x) ** 2 - y")
VALUES = (0.5, 2.0, -1.0, 1.5, 3.0, -0.5)
"""The initial values of the variables, in order of occurrence."""


def show() -> None:
    """Show the user's expression, or why it cannot be evaluated."""
    example = st.pills("examples", EXAMPLES, default=None)
    text = st.text_input("expression", value=example or FIRST, key=f"expression.{example}")
    try:
        expression = parse(text)
        inputs = _inputs(expression)
        result = expression.value(inputs)
        if not isinstance(result, Scalar) or result.is_constant():
            show_numbers({"value": f"{float(result):.6g}"})
            st.info("The expression has no variables, so there is nothing to differentiate.")
            return
        if result.is_leaf():
            result = result.clone()
        _show_result(expression, inputs, result)
    except (ExpressionError, AutodiffError) as error:
        show_error(error)


def _inputs(expression: Expression) -> dict[str, Scalar]:
    """Return the variables, with the values that the user entered."""
    columns = st.columns(max(len(expression.names), 3))
    values = {}
    for column, name, first in zip(columns, expression.names, VALUES, strict=False):
        values[name] = number(column.text_input(name, f"{first:g}", key=f"value.{name}"))
    return {name: Scalar(value, name=name) for name, value in values.items()}


def _show_result(expression: Expression, inputs: dict[str, Scalar], result: Scalar) -> None:
    graph, backwards = st.tabs(["Values and gradients", "Backwards, step by step"])
    steps = steps_of(result)
    with graph:
        show_numbers({"value": f"{result.data:.6g}"})
        show_svg(to_svg(result, max_nodes=MOST_NODES))
        _show_gradients(expression, inputs, {step.variable: step.derivative for step in steps})
    with backwards:
        _show_steps(result, steps)


def _show_gradients(
    expression: Expression, inputs: dict[str, Scalar], exact: dict[Scalar, float]
) -> None:
    """Show each derivative with a finite difference."""
    point = {name: scalar.data for name, scalar in inputs.items()}

    def numeric(name: str) -> float:
        def along(x: float) -> float:
            return float(expression.value({**point, name: x}))

        try:
            return float(central_difference(along, point[name]))
        except ValueError:  # no central difference at infinity
            return float("nan")

    rows = [
        {
            "variable": name,
            "value": scalar.data,
            "derivative, backwards": exact.get(scalar, 0.0),
            "by a difference": numeric(name),
        }
        for name, scalar in inputs.items()
    ]
    st.table(
        [{key: v if isinstance(v, str) else f"{v:.6g}" for key, v in row.items()} for row in rows]
    )


def _show_steps(result: Scalar, steps: Sequence[Step]) -> None:
    """Show backpropagation up to the step that the user selected."""
    key = f"steps.{len(steps)}"
    with st.container(horizontal=True):
        for label, by in (("Back", -1), ("Next step", 1)):
            st.button(label, on_click=move, args=(key, by, len(steps)))
    done = int(st.slider("steps done", 0, len(steps), key=key))
    show_svg(draw_steps(result, steps, done))
    if not done:
        st.markdown(
            "The derivative of the result with respect to itself is 1. Each step takes the next "
            "Scalar whose derivative is complete, and adds contributions to those of its inputs."
        )
    for index in range(done, 0, -1):
        st.markdown(describe_step(steps[index - 1], index))
