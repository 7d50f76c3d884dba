"""Parallel threads: which thread computes which part of the output, and when that is faster.

The parts and the times are observed live; see `play.sharing`.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import streamlit as st

from drawings import plot
from mt_tensor.errors import TensorError
from mt_tensor.extending import Array
from play.choosing import choose_operation
from play.comparison import PRODUCT, Measured, Operation
from play.inputs import InputError
from play.sharing import Point, Written, curve, most_threads, shared_from, times, written
from play.showing import format_time, show_error, show_picture

COLOURS = {
    "blue": (0x3B, 0x82, 0xC4),
    "orange": (0xD1, 0x62, 0x2B),
    "green": (0x2F, 0x7D, 0x48),
    "violet": (0x82, 0x50, 0xB0),
}
"""The colors of the threads, repeated, by their names in Markdown."""


def show() -> None:
    """Show how the user's operation is divided among threads, or why it is not."""
    try:
        operation = choose_operation(1000, 1000, (512, 512, 512))
        most = most_threads()
        count = int(st.slider("threads", 1, most, most)) if most > 1 else 1
        with st.spinner("Compiling"):
            shares = written(operation, count)
    except (InputError, TensorError) as error:
        show_error(error)
        return
    what = "multiplications" if operation.name == PRODUCT else "elements"
    _show_sharing(operation, shares, count, what)
    st.markdown("#### Time")
    if st.button("Measure again"):
        _measured.clear()
    taken, points = _measured(operation)
    _show_times(taken)
    if points:
        _show_curve(points, what)
    if shares[0].run:
        _show_code(shares[0].run.kernel)


def _show_sharing(operation: Operation, shares: list[Written], count: int, what: str) -> None:
    """Show the memory that each thread writes."""
    run, least = shares[0].run, shared_from(operation)
    threads, work = st.columns(2)
    threads.metric("threads running", f"{run.parts if run else 1} of {count}")
    work.metric(what, f"{operation.steps():,}")
    if run:
        st.markdown(f"{run.parts} threads share {run.units:,} units of `{run.kernel.source.name}`.")
    else:
        st.markdown(
            f"One thread runs all of it. Kernels of mt-fast run in parallel from {least:,} {what}: "
            "for less work, starting threads would take longer."
        )
    for each in shares:
        size = " × ".join(f"{length:,}" for length in each.owners.shape)
        into = "the result" if each is shares[-1] else "partial results, reduced in a second step"
        st.markdown(f"**Writes to {into}: {size}**")
        st.image(_picture(each.owners))
        names = list(COLOURS)
        counts = each.elements().items()
        st.caption("; ".join(f":{names[k % len(names)]}[thread {k}]: {n:,}" for k, n in counts))


def _picture(owners: Array) -> Array:
    """Return the pixels of a picture of memory, in the colors of the threads that write it."""
    height = 40 if len(owners) == 1 else 300
    rows = np.linspace(0, len(owners) - 1, height).astype(int)
    columns = np.linspace(0, owners.shape[1] - 1, 600).astype(int)
    colours = np.array(list(COLOURS.values()), np.uint8)
    return np.asarray(colours[owners[np.ix_(rows, columns)] % len(colours)])


def _measure(operation: Operation) -> tuple[dict[int, Measured], list[Point]]:
    return times(operation), curve(operation)


_measured = st.cache_data(_measure, max_entries=1, show_spinner="Measuring")
"""The measurements of the latest operation, so that other widgets do not repeat them."""


def _show_times(taken: dict[int, Measured]) -> None:
    """Show the time of the operation by the number of threads, with the ideal."""
    alone = taken[1].fastest
    st.table(
        [
            {
                "threads": str(count),
                "fastest": format_time(each.fastest),
                "median": format_time(each.median),
                "ideal": format_time(alone / count),
                "speed-up": f"{alone / each.fastest:.2f}",
            }
            for count, each in taken.items()
        ],
        hide_index=True,
    )
    st.caption(
        "The ideal is the time of one thread divided by the number of threads. The time can be "
        "below the ideal if a part fits into the cache of a core, but the whole does not."
    )


def _show_curve(points: list[Point], what: str) -> None:
    """Show the times of one thread and of all threads for increasing work."""
    together = f"{most_threads()} threads"
    st.markdown("#### When it is faster")
    steps, *seconds = zip(*points, strict=True)
    lines = {
        name: [1e6 * each for each in taken]
        for name, taken in zip(("1 thread", together), seconds, strict=True)
    }
    show_picture(plot(steps, lines, xlabel=what, ylabel="microseconds", log="xy", points=True))
    lost = max((count for count, alone, shared in points if shared >= alone), default=0)
    won = [count for count in steps if count > lost]
    end = f"are faster from {won[0]:,} {what}" if won else "are never faster"
    st.caption(
        "The same kernel with increasing work. Starting a thread takes some microseconds, however "
        f"little it has to do. Here {together} {end}."
    )


def _show_code(kernel: Any) -> None:
    """Show the code that divides the units, and the code that each thread runs."""
    st.markdown("#### The compiled code\nThis gives each thread an equal share of the units:")
    st.code(inspect.getsource(kernel.parallel.py_func).strip())
    with st.expander("The code that a thread runs for its share"):
        st.code(kernel.source.text)
