"""LeNet live: watch the filters, activations and mistakes of a network during training.

The training is that of `mt-train digits`, in a background thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from drawings import images
from mt_tensor.extending import Array
from play.controls import control, show_job
from play.lenet import RECIPE, Snapshot, Training, activations, filters, validation
from play.showing import show_picture

RATES = (0.0001, 0.001, 0.003, 0.01, 0.03, 0.1, 1.0, 100.0)
MOST_MISTAKES = 24


def show() -> None:
    """Show the settings, and the latest training."""
    rate, epochs, seed, image = st.columns(4)
    training = Training(
        float(rate.selectbox("learning rate", RATES, index=RATES.index(RECIPE.lr))),
        int(epochs.number_input("epochs", 1, 200, RECIPE.epochs)),
        int(seed.number_input("seed", 0, 9999, 0)),
    )
    count = len(validation()[0])
    chosen = int(image.number_input("validation image", 1, count, 1)) - 1
    job = control("lenet.job", training.learn)
    show_job(job, lambda snapshot: _show(snapshot, chosen))


def _show(snapshot: Snapshot | None, chosen: int) -> None:
    if snapshot is None:
        st.info("Press Start to train on 1,150 images of digits, which takes a few seconds.")
        _show_images("digits", validation()[0][:40, 0], columns=10)
        return
    losses, rows = list(snapshot.losses), list(snapshot.rows)
    names = ("accuracy", "validation_accuracy")
    epoch, loss, right = st.columns(3)
    epoch.metric("epochs done", len(rows))
    loss.metric("loss of the last batch", f"{losses[-1]:.4g}")
    right.metric("validation accuracy", f"{rows[-1][names[1]]:.1%}" if rows else "not yet")
    left, right = st.columns(2, gap="large")
    left.line_chart(losses, x_label="batch", y_label="loss", height=250)
    if rows:
        right.line_chart(rows, y=names, x_label="epoch", y_label="accuracy", height=250)
    with left:
        st.markdown("**Filters of the first layer**: blue is positive, orange negative")
        _show_images("filters", filters(snapshot.network), signed=True)
        _show_mistakes(snapshot)
    with right:
        _show_seen(snapshot, chosen)


def _show_images(name: str, pixels: Array, captions: Sequence[str] = (), **settings: Any) -> None:
    """Show images; values that are not finite, after divergence, are drawn as 0."""
    finite = np.nan_to_num(pixels, posinf=0.0, neginf=0.0)
    show_picture(images(finite, captions, alt=name, **settings))


def _show_seen(snapshot: Snapshot, chosen: int) -> None:
    """Show the activations for an image, layer by layer."""
    pictures, labels = validation()
    first, second, probabilities = activations(snapshot.network, pictures[chosen])
    predicted = int(probabilities.argmax())
    st.markdown(
        f"**Image {chosen + 1}** is a {labels[chosen]}; the prediction is {predicted} "
        f"({probabilities[predicted]:.1%})"
    )
    _show_images("the image", pictures[chosen])
    st.markdown("after the first convolution and relu")
    _show_images("first activations", first)
    st.markdown("after the second")
    _show_images("second activations", second)


def _show_mistakes(snapshot: Snapshot) -> None:
    st.markdown("**Mistakes in the validation**")
    if snapshot.mistakes is None:
        st.caption("They are listed after each epoch.")
        return
    pictures, _ = validation()
    mistakes = snapshot.mistakes[:MOST_MISTAKES]
    st.caption(f"{len(snapshot.mistakes)} of {len(pictures)} images, the most confident first")
    if mistakes:
        wrong = pictures[[mistake.sample for mistake in mistakes], 0]
        captions = [f"{mistake.predicted}, is {mistake.right}" for mistake in mistakes]
        _show_images("mistakes", wrong, captions, columns=6)
