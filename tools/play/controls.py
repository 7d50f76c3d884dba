"""Widgets of pages with networks: buttons of training, periodic updates, and saved networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from mt_nn import NetworkError, StateDictError
from mt_operators import Module
from play.background import Job, Work
from play.inputs import InputError
from play.showing import plain, show_error
from play.trained import JobT, saved

HERE, SAVED = "trained here", "saved by mt-train"

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
        job: Job[Any] | None = st.session_state.get(key)
        if st.button(start, type="primary"):
            if job is not None:
                job.end()
            st.session_state[key] = job = Job(work)
        if job is not None:
            st.button("Stop", on_click=job.wait, disabled=job.state != "running")
            st.button("Resume", on_click=job.resume, disabled=job.state != "waiting")
    return job


def show_job(job: Job[Any] | None, show: Callable[[Any], None]) -> None:
    """Show the latest report of a job, and update it while it runs.

    Args:
        job: the job returned by `control`.
        show: a function that renders a report; None before the first.
    """
    if job is None:
        show(None)
        return
    state = job.state

    def update() -> None:
        if job.state != state:
            st.rerun()  # updates the buttons
        failure = job.failure  # read before the report, so that the report is not older
        report = job.look()
        show(report)
        if failure:
            st.error(plain(f"The job has ended: {failure}"))
        elif report is not None:
            st.caption(job.state)

    st.fragment(update, run_every=EVERY.get(state))()


def is_saved() -> bool:
    """Return whether the user selected a network of `mt-train` instead of that of the page."""
    choice = st.segmented_control("network", (HERE, SAVED), default=HERE)
    return bool(choice == SAVED)


def choose_saved(example: str, *kinds: type[JobT]) -> tuple[JobT, Module] | None:
    """Return the training in the folder that the user names; None after showing an error.

    Args:
        example: the initial folder.
        *kinds: the allowed types of the job.
    """
    try:
        return saved(st.text_input("folder of the training", example), *kinds)
    except (InputError, NetworkError, StateDictError) as error:
        show_error(error)
        return None
