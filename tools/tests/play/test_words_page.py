"""The words page: a word's influence is the change without it, and negation is learned."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import Module
from play.background import Progress
from play.inputs import InputError
from play.sentences import (
    SENTENCES,
    WORDS,
    classify,
    divided,
    learn,
    sentences,
    vocabulary,
)


@pytest.fixture(scope="module")
def reports() -> list[Progress]:
    """The reports of a training run."""
    collected: list[Progress] = []
    learn(collected.append)
    return collected


def test_sentences_are_reproducible_and_match_their_labels() -> None:
    generated = sentences(300, 7)
    assert generated == sentences(300, 7)
    for text, label in generated:
        good, bad, denied = (
            bool(set(text.split()) & set(WORDS[kind])) for kind in ("good", "bad", "denial")
        )
        assert good != bad
        assert (good != denied) == bool(label)


def test_held_out_sentences_are_not_in_the_training_set() -> None:
    learnt, held_out = divided()
    assert not set(learnt) & set(held_out)
    assert {*learnt, *held_out} == set(sentences(SENTENCES, 0))


def test_trained_network_is_right_on_95_percent_of_held_out_sentences(
    reports: list[Progress],
) -> None:
    assert reports[0].right is None
    assert reports[-1].right is not None
    assert reports[-1].right > 0.95
    assert reports[-1].losses[-1] < reports[0].losses[0]


@pytest.mark.parametrize(
    ("text", "praise"),
    [
        ("The film is good.", True),
        ("the film is not good", False),
        ("her acting was dull", False),
        ("Her acting was never dull!", True),
    ],
)
def test_trained_network_classifies_negated_sentences(
    reports: list[Progress], text: str, praise: bool
) -> None:
    assert (classify(reports[-1].network, vocabulary(), text).praise > 0.5) == praise


def test_weight_of_a_word_is_the_change_of_the_odds_without_it(reports: list[Progress]) -> None:
    network: Any = reports[-1].network
    words = ["the", "film", "is", "not", "good"]

    def odds(kept: list[str]) -> float:
        with mt.no_grad():
            scores = network.eval()(mt.tensor([vocabulary().encode(kept)]))[0]
        return float(scores[1] - scores[0])

    prediction = classify(network, vocabulary(), " ".join(words))
    expected = [odds(words) - odds(words[:i] + words[i + 1 :]) for i in range(len(words))]
    np.testing.assert_allclose(prediction.weights, expected, atol=1e-3)
    assert min(prediction.weights) == prediction.weights[3]  # "not"


def test_unknown_words_are_marked(reports: list[Progress]) -> None:
    prediction = classify(reports[-1].network, vocabulary(), "zebras seems good")
    assert prediction.known == [False, True, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "sentence is empty"),
        ("  \n", "sentence is empty"),
        ("good " * 1000, "at most 200 words, not 1000"),
        ("zebras xylophones", "none of these words"),
    ],
)
def test_unclassifiable_text_raises_input_error(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        classify(Module(), vocabulary(), text)


def test_page_shows_the_influence_of_words(opened: Callable[[str], Any]) -> None:
    page = opened("stage5_words")
    learnt, _ = divided()
    assert f"press Learn to train one on {len(learnt):,} sentences" in page.info[0].value
    assert list(page.table[0].value["sentence"])[:3] == [text for text, _ in learnt[:3]]
    page.button[0].click().run()
    page.session_state["words.job"].join()
    page.run()
    assert any("held-out sentences: " in each.value for each in page.caption)
    assert float(page.metric[1].value.rstrip("%")) > 50  # blame
    page.text_input[0].set_value("the music is wonderful").run()
    assert float(page.metric[0].value.rstrip("%")) > 50  # praise
    page.text_input[0].set_value("xylophones <b>").run()
    assert "knows none of these words" in page.error[0].value
    page.button_group[1].set_value("her acting was never dull").run()
    assert not page.error


def test_page_reports_a_folder_without_a_training(opened: Callable[[str], Any]) -> None:
    page = opened("stage5_words")
    page.button_group[0].set_value("saved by mt-train").run()
    page.text_input[1].set_value("/nowhere").run()
    assert "nowhere is not the folder of a training" in page.error[0].value.replace("\\", "")
