"""Attention: a small transformer learns to rewrite words, and each head shows where it looks.

Its layers are `mt_nn.MultiheadAttention`, whose weights are what is drawn.
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
    Lesson,
    WordError,
    beginner,
    learn,
    read_word,
    rewrite,
    spelt,
)
from play.controls import control, watch
from play.heat import draw_heat
from play.lines import draw_lines
from play.showing import is_dark, refuse, show_svg
from play.tiles import tiles


def show() -> None:
    """Show what can be set, and below it what the transformer makes of a word."""
    first, second = st.columns(2)
    task = str(first.selectbox("what it learns: to take a word and", list(TASKS)))
    written = second.text_input("word", "attention", max_chars=200)
    third, fourth = st.columns(2)
    layer = int(str(third.segmented_control("layer", range(1, LAYERS + 1), default=1) or 1))
    head = int(str(fourth.segmented_control("head", range(1, HEADS + 1), default=1) or 1))
    try:
        word = read_word(written)
    except WordError as error:
        refuse(error)
        return
    job = control(f"attention.{task}", partial(learn, task), "Learn")
    watch(job, lambda lesson: _show(lesson, word, task, layer, head))


def _show(lesson: Lesson | None, word: Array, task: str, layer: int, head: int) -> None:
    """Show the transformer as far as it has come."""
    network = beginner() if lesson is None else lesson.network
    result, weights = rewrite(network, word)
    wanted = spelt(TASKS[task](word[None])[0])
    mine, right, letters = st.columns(3)
    mine.metric("it writes", result)
    right.metric("right would be", wanted)
    letters.metric(
        "right letters while learning", "none" if lesson is None else f"{lesson.right:.0%}"
    )
    left, side = st.columns([3, 2], gap="large")
    with left:
        st.markdown(f"**Layer {layer}, head {head}**: each row looks for a letter to write there")
        show_svg(draw_heat(weights[layer - 1, head - 1], list(result), spelt(word)), fits=True)
        st.caption("Beside the rows is what is written, above the columns the word as it is.")
    with side:
        st.markdown("**All heads**")
        names = [f"layer {i + 1}, {j + 1}" for i in range(LAYERS) for j in range(HEADS)]
        maps = weights.reshape(-1, len(word), len(word))
        st.html(tiles(maps, names, dark=is_dark(), width=60, name="head"))
        if lesson is None:
            st.info(
                "It has learnt nothing yet, and looks anywhere. Learn takes some seconds; the "
                f"words it learns by are random letters, {LONGEST} at most."
            )
        else:
            st.caption("loss")
            show_svg(draw_lines({"training": list(lesson.losses)}, "step"), fits=True)
