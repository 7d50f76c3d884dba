"""One operation on every backend: equal results, very different times, different kernels.

Everything is measured live, by `play.comparison`.
"""

from __future__ import annotations

import streamlit as st

from drawings.bars import bars
from mt_operators import OPERATORS
from mt_tensor.errors import TensorError
from play.choosing import choose_operation
from play.comparison import Measured, Operation, agreement, measure
from play.inputs import InputError
from play.kernels import cuda_kernels, fast_kernels
from play.showing import format_time, plain, show_error, show_picture


def show() -> None:
    """Measure the user's operation, or show why it cannot be run."""
    try:
        operation = choose_operation(64, 100, (24, 20, 30))
        with st.spinner("Compiling and measuring"):
            measured = measure(operation)
    except (InputError, TensorError) as error:
        show_error(error)
        return
    _show_times(measured)
    st.button("Measure again")
    _show_kernels(operation)


def _show_times(measured: list[Measured]) -> None:
    reference = next(each.result for each in measured if each.backend == "numpy")
    ran = [each for each in measured if not each.refusal]
    rows = []
    for each in ran:
        same, how = agreement(each.result, reference)
        rows.append(
            {
                "backend": each.backend,
                "first call": format_time(each.first),
                "fastest": format_time(each.fastest),
                "median": format_time(each.median),
                "result, compared with NumPy's": how if same else f"wrong: {how}",
            }
        )
    st.table(rows, hide_index=True)
    for each in measured:
        if each.refusal:
            st.markdown(f"**{each.backend}**: {plain(each.refusal)}")
    show_picture(bars({each.backend: each.fastest * 1e6 for each in ran}, log=True, unit=" µs"))
    st.caption(
        "The first call includes one-time work: mt-fast compiles a kernel, or loads it from its "
        "cache; the simulator parses a kernel's source. Kernels that have run since the server was "
        "started are ready. Further calls follow immediately, so their data is in the caches."
    )


def _show_kernels(operation: Operation) -> None:
    st.markdown("#### The generated kernels")
    kernels = {"fast": fast_kernels(operation), "cuda": cuda_kernels(operation)}
    for tab, found in zip(st.tabs(list(kernels)), kernels.values(), strict=True):
        for title, code in found:
            tab.markdown(title)
            if code:
                tab.code(code)
    if operation.name in OPERATORS:
        st.caption("Both are generated from one row of the operator table.")
