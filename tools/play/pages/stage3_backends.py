"""One operation on every backend: equal results, very different times, different kernels.

Everything is measured live, by `play.comparison`.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import streamlit as st

from mt_operators import OPERATORS
from mt_tensor.errors import TensorError
from play.choosing import choose_operation
from play.comparison import Measured, Operation, agreement, kernels, measure
from play.inputs import InputError
from play.showing import DERIVATIVE, VALUE, format_time, plain, show_error


def show() -> None:
    """Measure the user's operation, or show why it cannot be run."""
    try:
        operation = choose_operation("64, 100", "100", ("24, 20", "20, 30"))
        with st.spinner("Compiling and measuring"):
            measured = list(measure(operation))
            texts = {each.backend: kernels(each.backend, operation) for each in measured}
    except (InputError, TensorError) as error:
        show_error(error)
        return
    _show_times(measured)
    st.button("Measure again")
    _show_kernels(operation, texts)


def _show_times(measured: list[Measured]) -> None:
    reference = next(each.result for each in measured if each.backend == "numpy")
    ran = [each for each in measured if not each.refusal]
    rows = []
    for each in ran:
        same, how = agreement(each.result, reference)
        rows.append(
            {
                "backend": _called(each),
                "first call": format_time(each.first),
                "fastest": format_time(each.fastest),
                "median": format_time(each.median),
                "calls": str(len(each.times)),
                "result, compared with NumPy's": how if same else f"wrong: {how}",
            }
        )
    st.table(rows)
    for each in measured:
        if each.refusal:
            st.markdown(f"**{each.backend}**: {plain(each.refusal)}")
    st.altair_chart(_chart(ran), width="stretch")
    st.caption(
        "The first call includes one-time work: mt-fast compiles a kernel, or loads it from its "
        "cache; the simulator parses a kernel's source. Kernels that have run since the server was "
        "started are ready. Further calls follow immediately, so their data is in the caches."
    )


def _called(measured: Measured) -> str:
    return f"{measured.backend}, simulated" if measured.simulated else measured.backend


def _chart(measured: list[Measured]) -> Any:
    """Return a bar for each backend, on a logarithmic scale, with a tick at the median."""
    rows = [
        {
            "backend": _called(each),
            "fastest": each.fastest * 1e6,
            "median": each.median * 1e6,
            "least": min(other.fastest for other in measured) * 5e5,
        }
        for each in measured
    ]
    most = max(max(each.median, each.fastest) for each in measured) * 1e6
    scale = alt.Scale(type="log", nice=False, domain=[rows[0]["least"], 1.3 * most])
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("backend:N", title=None, sort=None, axis=alt.Axis(labelLimit=140))
    )
    bars = base.mark_bar(color=VALUE, cornerRadiusEnd=3).encode(
        x=alt.X(
            "fastest:Q",
            title="microseconds; a tick at the median",
            scale=scale,
            axis=alt.Axis(values=[10.0**power for power in range(-1, 8)], format=","),
        ),
        x2=alt.X2("least:Q"),
    )
    ticks = base.mark_tick(color=DERIVATIVE, thickness=3, size=20).encode(
        x=alt.X("median:Q", scale=scale)
    )
    return alt.layer(bars, ticks).properties(height=50 + 32 * len(rows))


def _show_kernels(operation: Operation, texts: dict[str, list[tuple[str, str]]]) -> None:
    st.markdown("#### The code that runs")
    names = [name for name, found in texts.items() if found]
    for name, tab in zip(names, st.tabs(names), strict=True):
        with tab:
            if name == "cuda":
                st.caption("The kernels for a GPU; the simulator runs them with fewer threads.")
            for title, code in texts[name]:
                st.markdown(f"{title[0].upper()}{title[1:]}:")
                st.code(code, language="python")
    if operation.name in OPERATORS:
        st.caption("All of them are generated from one row of the operator table.")
