"""Words that decide: a network classifies a sentence, and shows the influence of each word.

The network and the method are those of `mt-train sentiment`.
"""

from __future__ import annotations

import streamlit as st

from mt_nn.data import Vocabulary
from mt_nn.jobs.sentiment import Sentiment
from mt_operators import Module
from play.background import Progress
from play.controls import choose_saved, control, is_saved, show_job
from play.inputs import InputError
from play.sentences import classify, divided, learn, vocabulary
from play.showing import show_error

FIRST = "the film is not good"
EXAMPLES = (FIRST, "the film is good", "her acting was never dull", "the plot seems dull and cold")


def show() -> None:
    """Show a sentence and its classification."""
    saved = is_saved()
    example = st.pills("examples", EXAMPLES, default=None)
    text = st.text_input("sentence", example or FIRST, key=f"words.{example}", max_chars=5000)
    if not saved:
        show_job(control("words.job", learn, "Learn"), lambda progress: _show(progress, text))
    elif found := choose_saved("runs/sentiment", Sentiment):
        training, network = found
        _show_prediction(network, training.vocabulary, text)


def _show(progress: Progress | None, text: str) -> None:
    """Show the classification by the network of this page, in its current state."""
    learnt, held_out = divided()
    if progress is None:
        st.info(
            f"No network is trained yet: press Learn to train one on {len(learnt):,} sentences of "
            "praise and blame, which takes a few seconds. Some of the sentences:"
        )
        st.table([{"sentence": each, "praise": "yes" if yes else "no"} for each, yes in learnt[:6]])
        return
    _show_prediction(progress.network, vocabulary(), text)
    right = "not measured yet" if progress.right is None else f"{progress.right:.1%}"
    st.caption(f"loss; accuracy on {len(held_out)} held-out sentences: {right}")
    st.line_chart(list(progress.losses), x_label="batch", height=250)


def _show_prediction(network: Module, known: Vocabulary, text: str) -> None:
    """Show the influence of each word on a prediction."""
    try:
        prediction = classify(network, known, text)
    except InputError as error:
        show_error(error)
        return
    praise, blame = st.columns(2)
    praise.metric("praise", f"{prediction.praise:.1%}")
    blame.metric("blame", f"{1.0 - prediction.praise:.1%}")
    rows = [
        {
            "word": f"{place} {word}{'' if is_known else ' (unknown)'}",
            "influence": weight,
        }
        for place, (word, is_known, weight) in enumerate(
            zip(prediction.words, prediction.known, prediction.weights, strict=True), 1
        )
    ]
    st.bar_chart(rows, x="word", y="influence", sort=False, height=300)
    st.caption("Influence: the decrease of the log-odds of praise if the word is left out.")
