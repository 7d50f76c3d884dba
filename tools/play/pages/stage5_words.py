"""Words that decide: a network judges a sentence, and each word shows how much of that it did.

The network and how words are weighed are those of `mt-train sentiment`.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from mt_nn import NetworkError, StateDictError
from mt_nn.jobs.sentiment import Sentiment
from play.controls import control, watch
from play.lines import draw_lines
from play.sentences import (
    Judge,
    Judgement,
    Progress,
    SentenceError,
    divided,
    judge,
    learn,
)
from play.showing import refuse, show_svg
from play.trained import FolderError, saved

HERE, SAVED = "learnt here", "saved by mt-train"
FIRST = "the film is not good"
EXAMPLES = (FIRST, "the film is good", "her acting was never dull", "the plot seems dull and cold")

STYLE = """<style>
.mt-words{display:flex;flex-wrap:wrap;gap:.5rem;margin:.4rem 0 .8rem}
.mt-words .word{padding:.35rem .7rem;border-radius:.5rem;text-align:center;font-size:1.15rem;
border:1px solid color-mix(in srgb,currentColor 25%,transparent)}
.mt-words .unknown{border-style:dashed;opacity:.65}
.mt-words .weight{display:block;font-size:.78rem;font-variant-numeric:tabular-nums;opacity:.85}
</style>"""


def show() -> None:
    """Show a sentence and what a network says of it."""
    whose = st.segmented_control("network", (HERE, SAVED), default=HERE)
    example = st.pills("examples", EXAMPLES, default=None)
    text = st.text_input("sentence", example or FIRST, key=f"words.{example}", max_chars=5000)
    if whose == SAVED:
        try:
            folder = st.text_input("folder of the training", "runs/sentiment")
            training, network = saved(folder, Sentiment)
            _show_judgement(Judge(training.vocabulary, network), text)
        except (FolderError, SentenceError, NetworkError, StateDictError) as error:
            refuse(error)
        return
    job = control("words.job", learn, "Learn")
    watch(job, lambda progress: _show(progress, text))


def _show(progress: Progress | None, text: str) -> None:
    """Show what the network of this page says, as far as it has come."""
    learnt, held_out = divided()
    if progress is None:
        st.info(
            f"No network has read anything yet: Learn teaches one {len(learnt):,} sentences of "
            "praise and blame, which takes some seconds. These are some of them."
        )
        st.table(
            [{"sentence": told, "praise": "yes" if label else "no"} for told, label in learnt[:6]]
        )
        return
    try:
        _show_judgement(progress.judge, text)
    except SentenceError as error:
        refuse(error)
    left, _ = st.columns(2)
    with left:
        right = "not looked at yet" if progress.right is None else f"{progress.right:.1%} are right"
        st.caption(f"loss; of {len(held_out)} sentences that were held out: {right}")
        show_svg(draw_lines({"training": list(progress.losses)}, "batch"), fits=True)


def _show_judgement(who: Judge, text: str) -> None:
    """Show how much of a judgement each word has done."""
    judgement = judge(who, text)
    praise, blame = st.columns(2)
    praise.metric("praise", f"{judgement.praise:.1%}")
    blame.metric("blame", f"{1.0 - judgement.praise:.1%}")
    st.html(f'{STYLE}<div class="mt-words">{"".join(_chips(judgement))}</div>')
    st.caption(
        "Blue speaks for praise, orange for blame. A word's number is by how much the logarithm of "
        "the odds falls when that word is left out; dashed words are unknown to the network."
    )


def _chips(judgement: Judgement) -> list[str]:
    """Return the words as HTML: the more a word did, the stronger its colour."""
    reach = max(1.0, *map(abs, judgement.weights))
    chips = []
    for word, known, weight in zip(
        judgement.words, judgement.known, judgement.weights, strict=True
    ):
        colour = "#3b82c4" if weight > 0.0 else "#d1622b"
        share = round(60.0 * abs(weight) / reach)
        kind = "word" if known else "word unknown"
        chips.append(
            f'<span class="{kind}" style="background:color-mix(in srgb,{colour} {share}%,'
            f'transparent)">{escape(word)}<span class="weight">{weight:+.1f}</span></span>'
        )
    return chips
