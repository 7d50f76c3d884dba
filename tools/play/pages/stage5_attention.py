"""Attention: a small transformer learns to rewrite words, and shows the weights of its heads.

Its layers are `mt_nn.MultiheadAttention`, whose weights are drawn.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from drawings import images
from drawings.heat import heat
from mt_tensor.extending import Array
from play import attention
from play.background import Progress
from play.controls import control, show_job
from play.inputs import InputError
from play.showing import show_error, show_picture


def show() -> None:
    """Show the settings, and the transformer's result for a word."""
    first, second = st.columns(2)
    task = str(first.selectbox("task: take a word and", list(attention.TASKS)))
    typed = second.text_input("word", "attention", max_chars=200)
    layer = int(first.segmented_control("layer", range(1, attention.LAYERS + 1), default=1) or 1)
    head = int(second.segmented_control("head", range(1, attention.HEADS + 1), default=1) or 1)
    try:
        word = attention.read_word(typed)
    except InputError as error:
        show_error(error)
        return
    job = control(f"attention.{task}", partial(attention.learn, task), "Learn")
    show_job(job, lambda progress: _show(progress, word, task, layer, head))


def _show(progress: Progress | None, word: Array, task: str, layer: int, head: int) -> None:
    """Show the current state of the transformer."""
    now = progress or Progress((), None, attention.untrained())
    result, weights = attention.rewrite(now.network, word)
    prediction, right, accuracy = st.columns(3)
    prediction.metric("prediction", result)
    right.metric("correct", attention.as_letters(attention.TASKS[task](word[None])[0]))
    accuracy.metric("training accuracy", "none" if now.right is None else f"{now.right:.0%}")
    left, side = st.columns([3, 2], gap="large")
    with left:
        st.markdown(f"**Layer {layer}, head {head}**")
        letters = attention.as_letters(word)
        titles = {"row_title": "predicted letters", "column_title": "letters of the word"}
        show_picture(heat(weights[layer - 1, head - 1], result, letters, **titles))
    with side:
        st.markdown("**All heads**")
        names = [f"layer {i + 1}, {j + 1}" for i, j in np.ndindex(weights.shape[:2])]
        maps = weights.reshape(-1, len(word), len(word))
        show_picture(images(maps, names, columns=attention.HEADS))
        if progress is None:
            st.info(
                "The network is untrained, and its attention random. Training takes a few seconds; "
                f"it uses words of up to {attention.LONGEST} random letters."
            )
        else:
            st.caption("loss")
            st.line_chart(list(progress.losses), x_label="step", height=250)
