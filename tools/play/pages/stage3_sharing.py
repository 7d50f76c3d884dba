"""Threads over data: who computes which part of the output, and from which size on that pays.

The parts and the times are those of mt-fast, here and now; see `play.sharing`.
"""

from __future__ import annotations

import streamlit as st

from mt_tensor.errors import TensorError
from play.choosing import choose_operation
from play.comparison import PRODUCT, Measured, Operation
from play.compiled import Run
from play.sharing import Point, Written, curve, most_threads, shared_from, times, written
from play.showing import refuse, show_numbers, time_told
from play.speeds import curve_chart, times_chart
from play.strips import strips_html
from play.views import ViewError


def show() -> None:
    """Show how the operation that the reader has chosen is shared, or say why it is not."""
    try:
        operation = choose_operation("1000, 1000", "1000", ("512, 512", "512, 512"))
        if not operation.steps():
            st.info("There is nothing to compute.")
            return
        count = _threads()
        with st.spinner("Compiling what is new"):
            shares = written(operation, count)
    except (ViewError, TensorError) as error:
        refuse(error)
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
    """Return how many threads the reader wants, of those that there are."""
    most = most_threads()
    if most == 1:
        st.info("Numba has one processor here, so that one thread does everything.")
        return 1
    return int(st.columns(2)[0].slider("threads", 1, most, most))


def _measured(operation: Operation) -> tuple[dict[int, Measured], list[Point]]:
    """Return what was measured of this operation, anew if the reader wants it."""
    title, button = st.columns([3, 2], vertical_alignment="center")
    title.markdown("**How long it takes**")
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
            "threads at work": f"{run.parts if run else 1} of {count}",
            what: f"{operation.steps():,}",
            "mt-fast shares from": f"{least:,}",
        }
    )
    if run:
        st.markdown(f"{run.parts} threads share {run.units:,} units of `{run.kernel.source.name}`.")
    elif count > 1 and operation.steps() < least:
        st.markdown("One thread does all of it: to wake others would take longer than the work.")
    elif count > 1:
        st.markdown("One thread does all of it: mt-fast has no kernel here whose work it shares.")


def _show_written(shown: Written, last: bool) -> None:
    """Show memory, each part in the colour of the thread that writes it."""
    rows, columns = shown.tiles.shape
    size = f"{rows:,} × {columns:,}" if rows > 1 else f"{columns:,}"
    if last:
        st.markdown(f"**Who writes the result: {size}**")
    else:
        st.markdown(f"**Who writes partial results: {size}**, folded in a second step")
    st.html(strips_html(shown))


def _show_times(taken: dict[int, Measured]) -> None:
    """Show how long the operation takes by how many threads may share it, beside the ideal."""
    st.altair_chart(times_chart(taken), width="stretch")
    st.caption(
        "A bar is the fastest call, orange the median, grey the ideal: an equal share of the time "
        "of one thread. Less than that is possible: a share may have room in a processor's own "
        "cache, where the whole has none."
    )
    st.table(
        [
            {
                "threads": str(count),
                "fastest": time_told(each.fastest),
                "median": time_told(each.median),
                "speed-up": f"{taken[1].fastest / each.fastest:.2f}",
                "ideal": str(count),
            }
            for count, each in taken.items()
        ]
    )


def _show_curve(points: list[Point], least: int, what: str) -> None:
    """Show what one thread and all of them take for ever more units of the kernel."""
    together = f"{most_threads()} threads"
    st.markdown("#### When it pays")
    st.altair_chart(curve_chart(points, together, what, least), width="stretch")
    lost = max((point.steps for point in points if point.shared >= point.alone), default=0)
    won = next((f"{point.steps:,}" for point in points if point.steps > lost), None)
    if won:
        end = f"win from {won} {what} on"
    elif points[-1].steps < least:
        end = "would only lose: there is too little to do"
    else:
        end = "never win: processors or memory are busy with something else"
    line = points[0].steps <= least <= points[-1].steps
    st.caption(
        "The same kernel does ever more of its work. To wake a thread takes some microseconds, "
        f"however little it is to do. Here {together} {end}"
        + ("; the dashed line is where mt-fast begins to share." if line else ".")
    )


def _show_code(run: Run) -> None:
    """Show what shares the units, and what each thread runs."""
    st.markdown("#### What is compiled\nThis gives each thread an equal share of the units:")
    st.code(run.text, language="python")
    with st.expander("What a thread does with its share"):
        st.code(run.kernel.source.text, language="python")
