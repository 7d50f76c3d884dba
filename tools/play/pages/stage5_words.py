"""Words that decide: a network classifies a sentence, and shows the influence of each word.

The network and the method are those of `mt-train sentiment`.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from mt_nn import NetworkError, StateDictError
from mt_nn.jobs.sentiment import Sentiment
from play.controls import control, watch
from play.lines import draw_lines
from play.sentences import (
    Classifier,
    Prediction,
    Progress,
    SentenceError,
    classify,
    divided,
    learn,
)
from play.showing import show_error, show_svg
from play.trained import FolderError, saved

HERE, SAVED = "trained here", "saved by mt-train"
FIRST = "the film is not good"
EXAMPLES = (FIRST, "the film is good", "her acting was never dull", "the plot seems dull and cold")


def show() -> None:
    """Show a sentence and its classification."""
    whose = st.segmented_control("network", (HERE, SAVED), default=HERE)
    example = st.pills("examples", EXAMPLES, default=None)
    text = st.text_input("sentence", example or FIRST, key=f"words.{example}", max_chars=5000)
    if whose == SAVED:
        try:
            folder = st.text_input("folder of the training", "runs/sentiment")
            training, network = saved(folder, Sentiment)
            _show_prediction(Classifier(training.vocabulary, network), text)
        except (FolderError, SentenceError, NetworkError, StateDictError) as error:
            show_error(error)
        return
    job = control("words.job", learn, "Learn")
    watch(job, lambda progress: _show(progress, text))


def _show(progress: Progress | None, text: str) -> None:
    """Show the classification by the network of this page, in its current state."""
    learnt, held_out = divided()
    if progress is None:
        st.info(
            f"No network is trained yet: press Learn to train one on {len(learnt):,} sentences of "
            "praise and blame, which takes a few seconds. Some of the sentences:"
        )
        st.table(
            [{"sentence": text, "praise": "yes" if label else "no"} for text, label in learnt[:6]]
        )
        return
    try:
        _show_prediction(progress.classifier, text)
    except SentenceError as error:
        show_error(error)
    left, _ = st.columns(2)
    with left:
        right = "not measured yet" if progress.right is None else f"{progress.right:.1%}"
        st.caption(f"loss; accuracy on {len(held_out)} held-out sentences: {right}")
        show_svg(draw_lines({"training": list(progress.losses)}, "batch"), fits=True)


def _show_prediction(classifier: Classifier, text: str) -> None:
    """Show the influence of each word on a prediction."""
    prediction = classify(classifier, text)
    praise, blame = st.columns(2)
    praise.metric("praise", f"{prediction.praise:.1%}")
    blame.metric("blame", f"{1.0 - prediction.praise:.1%}")
    st.html(f'<div class="mt-words">{"".join(_chips(prediction))}</div>')
    st.caption(
        "Blue words speak for praise, orange ones for blame. The number is the decrease of the "
        "log-odds if the word is left out; dashed words are unknown to the network."
    )


def _chips(prediction: Prediction) -> list[str]:
    """Return the words as HTML; more influence has a stronger color."""
    reach = max(1.0, *map(abs, prediction.weights))
    chips = []
    for word, known, weight in zip(
        prediction.words, prediction.known, prediction.weights, strict=True
    ):
        colour = "#3b82c4" if weight > 0.0 else "#d1622b"
        share = round(60.0 * abs(weight) / reach)
        kind = "word" if known else "word unknown"
        chips.append(
            f'<span class="{kind}" style="background:color-mix(in srgb,{colour} {share}%,'
            f'transparent)">{escape(word)}<span class="weight">{weight:+.1f}</span></span>'
        )
    return chips
