"""Operators: every row of the table, with its value and derivative.

Formulas, curves and numbers are all computed from the row itself, as in every later stage.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import altair as alt
import streamlit as st

from mt_operators import OPERATORS, Operator, UnknownOperatorError
from mt_operators.text import written, written_partials
from play.curves import (
    Check,
    Curve,
    check,
    curve,
    evaluate,
    first_value,
    is_whole,
    limits,
    window,
)
from play.showing import DERIVATIVE, VALUE, show_error, show_numbers

FIRST = "tanh"
"""The initial operator."""


def show() -> None:
    """Show one operator, and in another tab all of them."""
    one, all_of_them = st.tabs(["One operator", "The whole table"])
    with one:
        _show_one()
    with all_of_them:
        _show_all()


def _show_one() -> None:
    left, right = st.columns([2, 3], gap="large")
    with left:
        operator = OPERATORS[_chosen()]
        names = operator.parameters
        st.markdown(f"**{operator.name}({', '.join(names)})**: {operator.note}")
        _show_formulas(operator)
        point = [_argument(operator, i) for i in range(operator.arity)]
        argument = 0
        if operator.arity > 1:
            chosen = st.segmented_control(
                "along", names, default=names[0], key=f"{operator.name}.along"
            )
            argument = names.index(chosen) if chosen in names else 0
        low, high = _shown_part(operator, argument)
    with right:
        _show_check(names[argument], check(operator, point, argument))
        drawn = curve(operator, point, argument, low, high)
        st.altair_chart(_chart(operator, point, argument, drawn), width="stretch")


def _chosen() -> str:
    """Return the operator that the user selected, or that of the URL."""
    names = list(OPERATORS)
    asked = str(st.query_params.get("name", FIRST))
    name = OPERATORS.aliases.get(asked, asked)
    try:
        name = OPERATORS[name].name
    except UnknownOperatorError as error:
        show_error(error)
        name = FIRST
    first = names.index(name)
    return str(st.selectbox("operator", names, index=first))


def _show_formulas(operator: Operator) -> None:
    lines = [f"value = {written(operator)}"]
    for name, partial in zip(operator.parameters, written_partials(operator), strict=True):
        lines.append(f"d/d{name} = {partial}")
    st.code("\n".join(lines), language="python", wrap_lines=True)
    if any("out" in line.split("= ", 1)[1] for line in lines[1:]):
        st.caption("`out` is the value, which is already known when the derivative is computed.")


def _argument(operator: Operator, index: int) -> float:
    low, high = limits(operator, index)
    value = first_value(operator, index)
    key = f"{operator.name}.{index}"
    name = operator.parameters[index]
    if is_whole(operator):
        return float(st.slider(name, int(low), int(high), int(value), key=key))
    return float(st.slider(name, low, high, value, step=0.01, key=key))


def _shown_part(operator: Operator, argument: int) -> tuple[float, float]:
    """Return the range of an axis that the user selected."""
    low, high = limits(operator, argument)
    near = 8.0 if is_whole(operator) else 4.0
    name = operator.parameters[argument]
    chosen = st.slider(
        f"range of {name}",
        low,
        high,
        (max(low, -near), min(high, near)),
        key=f"{operator.name}.{argument}.range",
    )
    return chosen if chosen[0] < chosen[1] else (low, high)


def _chart(operator: Operator, point: list[float], argument: int, drawn: Curve) -> Any:
    """Return the curves, with the point and its tangent."""
    name = operator.parameters[argument]
    low, high = window([*drawn.values, *drawn.derivatives])
    colours = alt.Scale(domain=["value", f"d/d{name}"], range=[VALUE, DERIVATIVE])
    x = alt.X("at:Q", title=name, scale=alt.Scale(domain=[drawn.at[0], drawn.at[-1]], nice=False))
    y = alt.Y("number:Q", title=None, scale=alt.Scale(domain=[low, high]))
    colour = alt.Color("curve:N", scale=colours, legend=alt.Legend(title=None, orient="top"))
    rows = [
        {"at": at, "number": number, "curve": which}
        for which, numbers in (("value", drawn.values), (f"d/d{name}", drawn.derivatives))
        for at, number in zip(drawn.at, numbers, strict=True)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=colour)
    if is_whole(operator):
        lines = base.mark_point(filled=True, size=45)
    else:
        lines = base.mark_line(clip=True, strokeWidth=2.5, invalid="break-paths-show-domains")
    value, slope = evaluate(operator, point, argument)
    layers = [lines]
    if math.isfinite(value) and math.isfinite(slope):
        ends = (drawn.at[0], drawn.at[-1])
        tangent = [{"at": at, "number": value + slope * (at - point[argument])} for at in ends]
        dashed = alt.Chart(alt.Data(values=tangent)).mark_line(
            clip=True, strokeDash=[5, 4], color=VALUE, opacity=0.6
        )
        marks = [
            {"at": point[argument], "number": value, "curve": "value"},
            {"at": point[argument], "number": slope, "curve": f"d/d{name}"},
        ]
        dots = alt.Chart(alt.Data(values=marks)).mark_circle(size=130, clip=True, opacity=1.0)
        layers += [dashed.encode(x=x, y=y), dots.encode(x=x, y=y, color=colour)]
    return alt.layer(*layers).properties(height=360)


def _show_check(name: str, checked: Check) -> None:
    by_difference = "none" if checked.numeric is None else f"{checked.numeric:.6g}"
    show_numbers(
        {
            "value": f"{checked.value:.6g}",
            f"d/d{name}, from the table": f"{checked.exact:.6g}",
            "by a difference": by_difference,
        },
        {"by a difference": "(f(x + ε) − f(x − ε)) / 2ε with ε = 0.000001, rounded"},
    )
    if checked.numeric is None:
        st.caption("A function of integers has no derivative; the table defines it as 0.")
    elif checked.kink:
        st.caption("There is a kink here: the derivative follows the same convention as torch.")
    elif not math.isfinite(checked.value):
        st.caption("Outside its domain, an operator returns nan or infinity, and never raises.")


@cache
def _table() -> list[dict[str, Any]]:
    """Return a row for each operator, with its curves."""
    rows = []
    for operator in OPERATORS.values():
        point = [first_value(operator, i) for i in range(operator.arity)]
        low, high = limits(operator, 0)
        drawn = curve(operator, point, 0, max(low, -4.0), min(high, 4.0))
        bottom, top = window([*drawn.values, *drawn.derivatives])
        shape = [
            [min(max(bottom if x is None else x, bottom), top) for x in numbers[::8]]
            for numbers in (drawn.values, drawn.derivatives)
        ]
        rows.append(
            {
                "name": operator.name,
                "curve": shape[0],
                "its slope": shape[1],
                "value": written(operator),
                "derivatives": "   ".join(written_partials(operator)),
                "meaning": operator.note,
            }
        )
    return rows


def _show_all() -> None:
    rows = _table()
    st.markdown(f"{len(rows)} operators; the curves go along the first argument, from −4 to 4.")
    curves = {
        name: st.column_config.LineChartColumn(name, width="small")
        for name in ("curve", "its slope")
    }
    st.dataframe(rows, column_config=curves, hide_index=True, height=640)
