"""Draw a digit: how a network sees your drawing, and how it classifies it.

The network is that of the page "LeNet live", or one that `mt-train` has saved.
"""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from mt_nn import NetworkError, StateDictError
from mt_nn.jobs.digits import Digits
from mt_nn.jobs.mnist import MNIST
from mt_tensor.extending import Array
from play.controls import control, watch
from play.drawn import DrawingError, as_seen, read_strokes, shares
from play.lenet import Snapshot, Training
from play.paper import paper
from play.showing import is_dark, show_error
from play.tiles import tiles
from play.trained import FolderError, saved

HERE, SAVED = "trained here", "saved by mt-train"


def show() -> None:
    """Show paper, and the classification of the drawing."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        sent = paper("draw.paper")
    with right:
        whose = st.segmented_control("network", (HERE, SAVED), default=HERE)
        try:
            strokes = read_strokes(sent)
            if whose == SAVED:
                folder = st.text_input("folder of the training", "runs/digits")
                job, network = saved(folder, Digits, MNIST)
                size = job.shape[1]
                _show_answer(network, as_seen(strokes, size) if strokes else None, job.classes)
                return
        except (DrawingError, FolderError, NetworkError, StateDictError) as error:
            show_error(error)
            return
        image = as_seen(strokes) if strokes else None
        training = control("lenet.job", Training().learn, "Learn")
        watch(training, lambda snapshot: _show_learning(snapshot, image))


def _show_learning(snapshot: Snapshot | None, image: Array | None) -> None:
    """Show the classification by the network of a training."""
    if snapshot is None:
        st.info("No network is trained yet: press Learn to train one, which takes a few seconds.")
        if image is not None:
            _show_image(image)
        return
    if snapshot.rows:
        right = snapshot.rows[-1]["validation_accuracy"]
        st.caption(f"Validation accuracy after {len(snapshot.rows)} epochs: {right:.1%}.")
    _show_answer(snapshot.network, image, Digits.classes)


def _show_answer(network: Any, image: Array | None, classes: tuple[str, ...]) -> None:
    if image is None:
        st.info("The paper is empty: draw a digit on it, in any size.")
        return
    _show_image(image)
    given = shares(network, image)
    taken = int(given.argmax())
    st.markdown(f"**Prediction: {classes[taken]}**")
    rows = "".join(
        _bar(name, float(share), i == taken)
        for i, (name, share) in enumerate(zip(classes, given, strict=True))
    )
    st.html(f'<div class="mt-bars">{rows}</div>')


def _show_image(image: Array) -> None:
    side = image.shape[1]
    st.markdown(f"Input of the network: {side} x {side} pixels")
    st.html(tiles(image, dark=is_dark(), width=160, name="input of the network"))


def _bar(name: str, share: float, first: bool) -> str:
    kind = " first" if first else ""
    return (
        f'<span class="name{kind}">{escape(name)}</span>'
        f'<span class="bar{kind}" style="width:{100.0 * share:.1f}%"></span>'
        f'<span class="share{kind}">{share:.1%}</span>'
    )
