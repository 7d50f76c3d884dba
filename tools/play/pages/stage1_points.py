"""Scalars that learn: points of two classes, and the decision boundary during training.

The network, its training and the points are those of `mt_autodiff.examples` and
`mt_operators.datasets`.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from mt_operators.datasets import DATASETS
from play.controls import control, watch
from play.learning import Progress, Task
from play.lines import draw_lines
from play.plane import draw_plane
from play.showing import show_numbers, show_svg

CELLS = 120
RATES = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 10.0, 1000.0)
WIDTHS = {"none: a straight line": (), "4": (4,), "10": (10,), "16 and 16": (16, 16)}


def show() -> None:
    """Show the settings, and the latest training."""
    task = _task()
    job = control("points", task.learn)
    watch(job, lambda progress: _show_progress(progress, task))


def _task() -> Task:
    """Return the training task with the user's settings."""
    data, points, hidden, rate, epochs = st.columns([3, 3, 4, 3, 3])
    name = str(data.selectbox("data", list(DATASETS), index=list(DATASETS).index("xor")))
    count = int(points.number_input("points", 10, 150, 50, step=10))
    layers = WIDTHS[str(hidden.selectbox("hidden units", list(WIDTHS), index=2))]
    step = float(rate.selectbox("rate", RATES, index=3))
    steps = int(epochs.number_input("epochs", 10, 2000, 400, step=50))
    return Task(DATASETS[name](count), layers, step, steps)


def _show_progress(progress: Progress | None, chosen: Task) -> None:
    """Show the progress of the training; before it starts, the selected points."""
    left, right = st.columns([1, 1], gap="large")
    if progress is None:
        with left:
            nothing = np.full((2, 2), np.nan)
            show_svg(draw_plane(chosen.dataset, nothing, chosen.dataset.y), fits=True)
        right.info("Press Start to train; the color of the plane shows the predicted class.")
        return
    boundary = progress.task.boundary(progress.parameters, CELLS)
    with left:
        show_svg(draw_plane(progress.task.dataset, *boundary), fits=True)
    with right:
        _show_history(progress)
        st.caption("Points with a thick outline are misclassified.")


def _show_history(progress: Progress) -> None:
    history = list(progress.history)
    last = history[-1]
    show_numbers(
        {"epoch": str(last.number), "loss": f"{last.loss:.3g}", "right": f"{last.accuracy:.0%}"}
    )
    lines = {
        "loss": [each.loss for each in history],
        "right": [each.accuracy for each in history],
    }
    show_svg(draw_lines(lines), fits=True)
