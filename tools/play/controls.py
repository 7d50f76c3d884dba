"""Widgets of pages with background jobs: buttons, and periodic updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from play.background import Job, Work
from play.showing import plain

EVERY = {"running": 0.7, "waiting": 5.0}
"""The interval of updates, in seconds."""


def control(key: str, work: Work[Any], start: str = "Start") -> Job[Any] | None:
    """Show the buttons of a job, and return the job; None before it is started.

    Args:
        key: its key in the session.
        work: the computation that the first button starts, replacing a running one.
        start: the label of that button.
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
    """Start a job, and end the previous one."""
    before: Job[Any] | None = st.session_state.get(key)
    if before is not None:
        before.end()
    st.session_state[key] = Job(work)


def watch(job: Job[Any] | None, show: Callable[[Any], None]) -> None:
    """Show the latest report of a job, and update it while it runs.

    Args:
        job: the job returned by `control`.
        show: a function that renders a report; None before the first.
    """
    state = None if job is None else job.state

    def look() -> None:
        if job is None:
            show(None)
            return
        if job.state != state:
            st.rerun()  # updates the buttons
        failure = job.failure  # read before the report, so that the report is not older
        report = job.look()
        show(report)
        if failure:
            st.error(plain(f"The job has ended: {failure}"))
        elif report is not None:
            st.caption(job.state)

    st.fragment(look, run_every=EVERY.get(str(state)))()


def move(key: str, by: int, most: int) -> None:
    """Move the position of a slider, within 0 and a maximum.

    Args:
        key: its key in the session.
        by: the number of steps; negative to move back.
        most: the maximum.
    """
    st.session_state[key] = min(max(st.session_state.get(key, 0) + by, 0), most)
