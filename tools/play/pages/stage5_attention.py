"""Attention: a small transformer learns to rewrite words, and shows the weights of its heads.

Its layers are `mt_nn.MultiheadAttention`, whose weights are drawn.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from mt_tensor.extending import Array
from play.attention import (
    HEADS,
    LAYERS,
    LONGEST,
    TASKS,
    Progress,
    WordError,
    as_letters,
    learn,
    read_word,
    rewrite,
    untrained,
)
from play.controls import control, watch
from play.heat import draw_heat
from play.lines import draw_lines
from play.showing import is_dark, show_error, show_svg
from play.tiles import tiles


def show() -> None:
    """Show the settings, and the transformer's result for a word."""
    first, second = st.columns(2)
    task = str(first.selectbox("task: take a word and", list(TASKS)))
    written = second.text_input("word", "attention", max_chars=200)
    third, fourth = st.columns(2)
    layer = int(str(third.segmented_control("layer", range(1, LAYERS + 1), default=1) or 1))
    head = int(str(fourth.segmented_control("head", range(1, HEADS + 1), default=1) or 1))
    try:
        word = read_word(written)
    except WordError as error:
        show_error(error)
        return
    job = control(f"attention.{task}", partial(learn, task), "Learn")
    watch(job, lambda progress: _show(progress, word, task, layer, head))


def _show(progress: Progress | None, word: Array, task: str, layer: int, head: int) -> None:
    """Show the current state of the transformer."""
    network = untrained() if progress is None else progress.network
    result, weights = rewrite(network, word)
    wanted = as_letters(TASKS[task](word[None])[0])
    mine, right, letters = st.columns(3)
    mine.metric("prediction", result)
    right.metric("correct", wanted)
    letters.metric("training accuracy", "none" if progress is None else f"{progress.right:.0%}")
    left, side = st.columns([3, 2], gap="large")
    with left:
        st.markdown(f"**Layer {layer}, head {head}**: one row of weights for each output letter")
        show_svg(draw_heat(weights[layer - 1, head - 1], list(result), as_letters(word)), fits=True)
        st.caption("Rows are labelled with the predicted letters, columns with those of the word.")
    with side:
        st.markdown("**All heads**")
        names = [f"layer {i + 1}, {j + 1}" for i in range(LAYERS) for j in range(HEADS)]
        maps = weights.reshape(-1, len(word), len(word))
        st.html(tiles(maps, names, dark=is_dark(), width=60, name="head"))
        if progress is None:
            st.info(
                "The network is untrained, and its attention random. Training takes a few seconds; "
                f"it uses words of up to {LONGEST} random letters."
            )
        else:
            st.caption("loss")
            show_svg(draw_lines({"training": list(progress.losses)}, "step"), fits=True)
