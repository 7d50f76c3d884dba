"""The attention page: tasks, words, attention weights, and training."""

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from play.attention import (
    HEADS,
    LAYERS,
    TASKS,
    Rewriter,
    as_letters,
    learn,
    read_word,
    rewrite,
    untrained,
)
from play.background import Progress
from play.inputs import InputError


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("reverse it", lambda word: word[::-1]),
        ("move each letter on", lambda word: word[-1] + word[:-1]),
        ("sort its letters", lambda word: "".join(sorted(word))),
    ],
)
@given(st.text("abcxyz", min_size=2, max_size=12))
def test_target_of_a_task_matches_a_string_operation(
    task: str, expected: Callable[[str], str], word: str
) -> None:
    assert as_letters(TASKS[task](read_word(word)[None])[0]) == expected(word)


@pytest.mark.parametrize("text", [" Word ", "ab", "abcdefghijkl"])
def test_word_is_read_without_spaces_and_in_lower_case(text: str) -> None:
    assert as_letters(read_word(text)) == text.strip().lower()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this one has 0"),
        (" a ", "this one has 1"),
        ("m" * 100_000, "this one has 100000"),
        ("two words", "found ' '"),
        ("größe", "found 'ß'"),
        ("<b>", "found '<'"),
    ],
)
def test_invalid_word_raises_input_error(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_word(text)


@given(st.text("abcz", min_size=2, max_size=12))
def test_attention_weights_of_a_letter_sum_to_1(text: str) -> None:
    mt.manual_seed(1)
    result, weights = rewrite(Rewriter(), read_word(text))
    assert len(result) == len(text)
    assert weights.shape == (LAYERS, HEADS, len(text), len(text))
    assert weights.min() >= 0.0
    np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-5)


def test_untrained_network_is_reproducible_and_leaves_the_generator_unchanged() -> None:
    before = mt.get_rng_state()
    untrained.cache_clear()
    one = untrained().state_dict()
    untrained.cache_clear()
    other = untrained().state_dict()
    assert mt.get_rng_state() == before
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_trained_transformer_reverses_a_word_by_attending_to_mirrored_letters() -> None:
    reports: list[Progress] = []
    learn("reverse it", reports.append)
    word = read_word("playground")
    result, weights = rewrite(reports[-1].network, word)
    assert result == "dnuorgyalp"
    assert (reports[0].right or 0.0) < 0.2
    assert (reports[-1].right or 0.0) > 0.95
    mirrored = weights[:, :, np.arange(10), np.arange(10)[::-1]].mean(-1)
    assert mirrored.max() > 0.5
    before = rewrite(reports[0].network, word)[1][:, :, np.arange(10), np.arange(10)[::-1]]
    assert before.mean(-1).max() < 0.3


def metrics(page: Any) -> dict[str, str]:
    return {each.label: each.value for each in page.metric}


def pictures(page: Any) -> list[str]:
    """Return the pictures on a page, as SVG."""
    sources = [each.value.partition("base64,")[2].partition('"')[0] for each in page.get("html")]
    return [base64.b64decode(source).decode() for source in sources]


def test_page_shows_new_predictions_and_weights_after_training(
    opened: Callable[[str], Any],
) -> None:
    page = opened("stage5_attention")
    page.text_input[0].set_value("stage").run()
    assert "The network is untrained" in page.info[0].value
    assert metrics(page)["correct"] == "egats"
    before, _ = pictures(page)
    assert before.count("<rect") == 25
    page.button[0].click().run()
    page.session_state["attention.reverse it"].join()
    page.run()
    assert metrics(page)["prediction"] == "egats"
    after, _ = pictures(page)
    assert after != before
    page.button_group[0].set_value(2).run()
    assert "**Layer 2, head 1**" in [each.value for each in page.markdown]
    assert pictures(page)[0] != after
    page.selectbox[0].set_value("sort its letters").run()
    assert metrics(page)["correct"] == "aegst"
    assert "The network is untrained" in page.info[0].value


def test_page_reports_an_invalid_word(opened: Callable[[str], Any]) -> None:
    page = opened("stage5_attention")
    page.text_input[0].set_value("a").run()
    assert "this one has 1" in page.error[0].value
    page.text_input[0].set_value("again").run()
    assert metrics(page)["correct"] == "niaga"
