"""Draw a digit: how a network sees your drawing, and how it classifies it.

The network is that of the page "LeNet live", or one that `mt-train` has saved.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from drawings import images
from mt_nn.jobs.digits import Digits
from mt_nn.jobs.mnist import MNIST
from mt_tensor.extending import Array
from play.controls import choose_saved, control, is_saved, show_job
from play.drawn import as_seen, read_strokes, shares
from play.lenet import Snapshot, Training
from play.paper import paper
from play.showing import show_picture


def show() -> None:
    """Show the canvas, and the classification of the drawing."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        strokes = read_strokes(paper("draw.paper"))
    with right:
        if not is_saved():
            image = as_seen(strokes) if strokes else None
            training = control("lenet.job", Training().learn, "Learn")
            show_job(training, lambda snapshot: _show_learning(snapshot, image))
        elif found := choose_saved("runs/digits", Digits, MNIST):
            job, network = found
            image = as_seen(strokes, job.shape[1]) if strokes else None
            _show_prediction(network, image, job.classes)


def _show_learning(snapshot: Snapshot | None, image: Array | None) -> None:
    """Show the classification by the network of a training run."""
    if snapshot is None:
        st.info("No network is trained yet: press Learn to train one, which takes a few seconds.")
        if image is not None:
            _show_image(image)
        return
    if snapshot.rows:
        right = snapshot.rows[-1]["validation_accuracy"]
        st.caption(f"Validation accuracy after {len(snapshot.rows)} epochs: {right:.1%}.")
    _show_prediction(snapshot.network, image, Digits.classes)


def _show_prediction(network: Any, image: Array | None, classes: tuple[str, ...]) -> None:
    if image is None:
        st.info("The paper is empty: draw a digit on it, in any size.")
        return
    _show_image(image)
    given = shares(network, image)
    st.markdown(f"**Prediction: {classes[int(given.argmax())]}**")
    rows = [{"class": name, "probability": p} for name, p in zip(classes, given, strict=True)]
    st.bar_chart(rows, x="class", y="probability", height=250)


def _show_image(image: Array) -> None:
    side = image.shape[1]
    st.markdown(f"Input of the network: {side} x {side} pixels")
    show_picture(images(image, size=160.0, alt="input of the network"))
