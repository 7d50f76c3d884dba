"""An expression: its graph, its derivatives, and backpropagation node by node.

Whatever is typed is read by `play.expressions`, and computed on Scalars.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from mt_autodiff import AutodiffError, Scalar, central_difference
from mt_autodiff.drawing import to_svg
from play.expressions import Expression, ExpressionError, number, parse
from play.showing import refuse, show_numbers, show_svg
from play.steps import MOST_NODES, Step, draw_steps, steps_of, told

FIRST = "x * y + exp(-x)"
EXAMPLES = (FIRST, "(x + y) * (x + y)", "sigmoid(w * x + b)", "log(x) / y", "relu(x) ** 2 - y")
VALUES = (0.5, 2.0, -1.0, 1.5, 3.0, -0.5)
"""What the variables are in the beginning, in the order in which they occur."""


def show() -> None:
    """Show the expression of the reader, or say why it cannot be computed."""
    example = st.pills("examples", EXAMPLES, default=None)
    text = st.text_input("expression", value=example or FIRST, key=f"expression.{example}")
    try:
        expression = parse(text)
        inputs = _inputs(expression)
        result = expression.value(inputs)
        if not isinstance(result, Scalar) or result.is_constant():
            show_numbers({"value": f"{float(result):.6g}"})
            st.info("No variable is in it, so there is nothing to differentiate.")
            return
        if result.is_leaf():
            result = result.clone()
        _show_result(expression, inputs, result)
    except (ExpressionError, AutodiffError) as error:
        refuse(error)


def _inputs(expression: Expression) -> dict[str, Scalar]:
    """Return the variables, with the values that the reader gives them."""
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
    """Show each derivative beside a difference of values."""
    point = {name: scalar.data for name, scalar in inputs.items()}

    def numeric(name: str) -> float:
        def along(x: float) -> float:
            return float(expression.value({**point, name: x}))

        try:
            return float(central_difference(along, point[name]))
        except ValueError:  # there is nothing on both sides of infinity
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
    """Show as much of backpropagation as the reader wants."""
    key = f"steps.{len(steps)}"
    with st.container(horizontal=True):
        for label, by in (("Back", -1), ("Next step", 1)):
            st.button(label, on_click=_step, args=(key, by, len(steps)))
    done = int(st.slider("steps done", 0, len(steps), key=key))
    show_svg(draw_steps(result, steps, done))
    if not done:
        st.markdown(
            "The derivative of the result by itself is 1. Each step takes the next Scalar of which "
            "all users are done, and hands its derivative on to what it was made from."
        )
    for index in range(done, 0, -1):
        st.markdown(told(steps[index - 1], index))


def _step(key: str, by: int, most: int) -> None:
    """Go on by a step, or back."""
    st.session_state[key] = min(max(st.session_state.get(key, 0) + by, 0), most)
