"""LeNet live: watch the filters, activations and mistakes of a network during training.

The training is that of `mt-train digits`, in a background thread.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from play.controls import control, watch
from play.lenet import RECIPE, Snapshot, Training, activations, filters, validation
from play.lines import draw_lines
from play.showing import is_dark, show_svg
from play.tiles import tiles

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
    watch(job, lambda snapshot: _show(snapshot, chosen))


def _show(snapshot: Snapshot | None, chosen: int) -> None:
    if snapshot is None:
        st.info("Press Start to train on 1,150 images of digits, which takes a few seconds.")
        st.html(tiles(validation()[0][:40, 0], dark=is_dark(), width=48, name="digit"))
        return
    losses, rows = list(snapshot.losses), list(snapshot.rows)
    _show_numbers(losses, rows)
    left, right = st.columns(2, gap="large")
    with left:
        st.caption("loss by batch")
        show_svg(draw_lines({"training": losses}, "batch"), fits=True)
    with right:
        lines = {"training": "accuracy", "validation": "validation_accuracy"}
        right_of = {name: [row[key] for row in rows] for name, key in lines.items()}
        st.caption("accuracy")
        show_svg(draw_lines(right_of), fits=True)
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown("**Filters of the first layer**")
        st.html(tiles(filters(snapshot.network), dark=is_dark(), signed=True, name="filter"))
        st.caption("Blue is positive, orange negative.")
        _show_mistakes(snapshot)
    with right:
        _show_seen(snapshot, chosen)


def _show_numbers(losses: list[float], rows: list[Any]) -> None:
    epoch, loss, right = st.columns(3)
    epoch.metric("epochs done", len(rows))
    loss.metric("loss of the last batch", f"{losses[-1]:.4g}")
    accuracy = f"{rows[-1]['validation_accuracy']:.1%}" if rows else "not yet"
    right.metric("validation accuracy", accuracy)


def _show_seen(snapshot: Snapshot, chosen: int) -> None:
    """Show the activations for an image, layer by layer."""
    images, labels = validation()
    seen = activations(snapshot.network, images[chosen])
    taken = int(seen.shares.argmax())
    st.markdown(
        f"**Image {chosen + 1}** is a {labels[chosen]}; the prediction is {taken} "
        f"({seen.shares[taken]:.1%})"
    )
    dark = is_dark()
    st.html(tiles(images[chosen], dark=dark, width=96, name="the image"))
    st.markdown("after the first convolution and relu")
    st.html(tiles(seen.first, dark=dark, width=46, name="first activation"))
    st.markdown("after the second")
    st.html(tiles(seen.second, dark=dark, width=46, name="second activation"))


def _show_mistakes(snapshot: Snapshot) -> None:
    st.markdown("**Mistakes in the validation**")
    if snapshot.mistakes is None:
        st.caption("They are listed after each epoch.")
        return
    images, _ = validation()
    mistakes = snapshot.mistakes[:MOST_MISTAKES]
    st.caption(f"{len(snapshot.mistakes)} of {len(images)} images, the most confident first")
    captions = [f"{m.predicted}, is {m.right}" for m in mistakes]
    wrong = images[[m.sample for m in mistakes], 0]
    if mistakes:
        st.html(tiles(wrong, captions, dark=is_dark(), width=56, name="mistake"))
