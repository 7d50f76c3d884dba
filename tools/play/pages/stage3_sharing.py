"""Parallel threads: which thread computes which part of the output, and when that is faster.

The parts and the times are observed live; see `play.sharing`.
"""

from __future__ import annotations

import streamlit as st

from mt_tensor.errors import TensorError
from play.choosing import choose_operation
from play.comparison import PRODUCT, Measured, Operation
from play.compiled import Run
from play.inputs import InputError
from play.sharing import Point, Written, curve, most_threads, shared_from, times, written
from play.showing import format_time, show_error, show_numbers
from play.speeds import curve_chart, times_chart
from play.strips import strips_html


def show() -> None:
    """Show how the user's operation is divided among threads, or why it is not."""
    try:
        operation = choose_operation("1000, 1000", "1000", ("512, 512", "512, 512"))
        if not operation.steps():
            st.info("There is nothing to compute.")
            return
        count = _threads()
        with st.spinner("Compiling"):
            shares = written(operation, count)
    except (InputError, TensorError) as error:
        show_error(error)
        return
    what = "multiplications" if operation.name == PRODUCT else "elements"
    _show_numbers(operation, what, shares[0].run, count)
    left, right = st.columns(2, gap="large")
    with left:
        for each in shares:
            _show_written(each, each is shares[-1])
    with right:
        taken, points = _measured(operation)
        _show_times(taken)
    if points:
        _show_curve(points, shared_from(operation), what)
    if shares[0].run:
        _show_code(shares[0].run)


def _threads() -> int:
    """Return the number of threads that the user selected."""
    most = most_threads()
    if most == 1:
        st.info("Numba has only one thread here.")
        return 1
    return int(st.columns(2)[0].slider("threads", 1, most, most))


def _measured(operation: Operation) -> tuple[dict[int, Measured], list[Point]]:
    """Return the measurements of this operation, repeated if the user requests it."""
    title, button = st.columns([3, 2], vertical_alignment="center")
    title.markdown("**Time**")
    again = button.button("Measure again", width="stretch")
    before, taken, points = st.session_state.get("sharing", (None, {}, []))
    if again or before != operation:
        with st.spinner("Measuring"):
            taken, points = times(operation), curve(operation)
        st.session_state["sharing"] = operation, taken, points
    return taken, points


def _show_numbers(operation: Operation, what: str, run: Run | None, count: int) -> None:
    least = shared_from(operation)
    show_numbers(
        {
            "threads running": f"{run.parts if run else 1} of {count}",
            what: f"{operation.steps():,}",
            "mt-fast is parallel from": f"{least:,}",
        }
    )
    if run:
        st.markdown(f"{run.parts} threads share {run.units:,} units of `{run.kernel.source.name}`.")
    elif count > 1 and operation.steps() < least:
        st.markdown("One thread runs all of it: starting others would take longer than the work.")
    elif count > 1:
        st.markdown("One thread runs all of it: mt-fast has no parallel kernel for it.")


def _show_written(shown: Written, last: bool) -> None:
    """Show memory, with each part in the color of the thread that writes it."""
    rows, columns = shown.tiles.shape
    size = f"{rows:,} × {columns:,}" if rows > 1 else f"{columns:,}"
    if last:
        st.markdown(f"**Writes to the result: {size}**")
    else:
        st.markdown(f"**Writes to partial results: {size}**, reduced in a second step")
    st.html(strips_html(shown))


def _show_times(taken: dict[int, Measured]) -> None:
    """Show the time of the operation by the number of threads, with the ideal."""
    st.altair_chart(times_chart(taken), width="stretch")
    st.caption(
        "A bar is the fastest call, orange the median, gray the ideal: the time of one thread "
        "divided by the number of threads. The time can be below the ideal if a part fits into the "
        "cache of a core, but the whole does not."
    )
    st.table(
        [
            {
                "threads": str(count),
                "fastest": format_time(each.fastest),
                "median": format_time(each.median),
                "speed-up": f"{taken[1].fastest / each.fastest:.2f}",
                "ideal": str(count),
            }
            for count, each in taken.items()
        ]
    )


def _show_curve(points: list[Point], least: int, what: str) -> None:
    """Show the times of one thread and of all threads for increasing work."""
    together = f"{most_threads()} threads"
    st.markdown("#### When it is faster")
    st.altair_chart(curve_chart(points, together, what, least), width="stretch")
    lost = max((point.steps for point in points if point.shared >= point.alone), default=0)
    won = next((f"{point.steps:,}" for point in points if point.steps > lost), None)
    if won:
        end = f"are faster from {won} {what}"
    elif points[-1].steps < least:
        end = "are always slower: there is too little work"
    else:
        end = "are never faster: processors or memory are busy otherwise"
    line = points[0].steps <= least <= points[-1].steps
    st.caption(
        "The same kernel with increasing work. Starting a thread takes some microseconds, however "
        f"little it has to do. Here {together} {end}"
        + ("; the dashed line is where mt-fast starts to run in parallel." if line else ".")
    )


def _show_code(run: Run) -> None:
    """Show the code that divides the units, and the code that each thread runs."""
    st.markdown("#### The compiled code\nThis gives each thread an equal share of the units:")
    st.code(run.text, language="python")
    with st.expander("The code that a thread runs for its share"):
        st.code(run.kernel.source.text, language="python")
