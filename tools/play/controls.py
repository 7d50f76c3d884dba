"""What pages on which something learns have in common: buttons, and a look at it now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from play.background import Job, Work
from play.showing import plain

EVERY = {"running": 0.7, "waiting": 5.0}
"""After how many seconds a page looks again."""


def control(key: str, work: Work[Any], start: str = "Start") -> Job[Any] | None:
    """Show the buttons of a computation, and return it; None before it was started.

    Args:
        key: under which the session keeps it.
        work: what the first button begins, anew if something runs already.
        start: what that button says.
    """
    with st.container(horizontal=True):
        if st.button(start, type="primary"):
            _begin(key, work)
        job: Job[Any] | None = st.session_state.get(key)
        if job is not None:
            st.button("Stop", on_click=job.wait, disabled=job.state != "running")
            st.button("Resume", on_click=job.resume, disabled=job.state != "waiting")
    return job


def _begin(key: str, work: Work[Any]) -> None:
    """Begin a computation; the one before ends."""
    before: Job[Any] | None = st.session_state.get(key)
    if before is not None:
        before.end()
    st.session_state[key] = Job(work)


def watch(job: Job[Any] | None, show: Callable[[Any], None]) -> None:
    """Show the latest report of a computation, again and again while there may be a new one.

    Args:
        job: the computation, as `control` has returned it.
        show: puts a report on the page; None is before the first.
    """
    state = None if job is None else job.state

    def look() -> None:
        if job is None:
            show(None)
            return
        if job.state != state:
            st.rerun()  # other buttons are right
        failure = job.failure  # before the report, which may otherwise be an earlier one
        report = job.look()
        show(report)
        if failure:
            st.error(plain(f"It has ended: {failure}"))
        elif report is not None:
            st.caption(job.state)

    st.fragment(look, run_every=EVERY.get(str(state)))()
