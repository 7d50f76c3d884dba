"""The words page: influences are those of leaving words out, and negation is learned."""

import json

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import Module
from play.sentences import (
    BAD,
    DENIALS,
    GOOD,
    SENTENCES,
    Classifier,
    Progress,
    SentenceError,
    classify,
    divided,
    learn,
    sentences,
    vocabulary,
)
from play.testing import Reader, answers


@pytest.fixture(scope="module")
def reports() -> list[Progress]:
    """The reports of a training."""
    told: list[Progress] = []
    learn(told.append)
    return told


def test_sentences_match_their_labels() -> None:
    told = sentences(300, 7)
    assert told == sentences(300, 7)
    for text, label in told:
        words = set(text.split())
        praise = bool(words & set(GOOD)) != bool(words & set(DENIALS))
        assert bool(words & set(GOOD)) != bool(words & set(BAD))
        assert praise == bool(label)


def test_held_out_sentences_are_not_in_the_training_set() -> None:
    learnt, held_out = divided()
    assert not set(learnt) & set(held_out)
    assert {*learnt, *held_out} == set(sentences(SENTENCES, 0))


def test_it_learns_in_a_moment(reports: list[Progress]) -> None:
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
def test_denial_is_understood(reports: list[Progress], text: str, praise: bool) -> None:
    assert (classify(reports[-1].classifier, text).praise > 0.5) == praise


def test_the_weight_of_a_word_is_the_difference_without_it(reports: list[Progress]) -> None:
    classifier = reports[-1].classifier
    words = ["the", "film", "is", "not", "good"]

    def odds(kept: list[str]) -> float:
        with mt.no_grad():
            scores = classifier.network.eval()(mt.tensor([classifier.vocabulary.encode(kept)]))[0]
        return float(scores[1] - scores[0])

    prediction = classify(classifier, " ".join(words))
    expected = [odds(words) - odds(words[:i] + words[i + 1 :]) for i in range(len(words))]
    np.testing.assert_allclose(prediction.weights, expected, atol=1e-3)
    assert min(prediction.weights) == prediction.weights[3]  # "not"


def test_words_that_are_unknown_are_marked(reports: list[Progress]) -> None:
    prediction = classify(reports[-1].classifier, "zebras seems good")
    assert prediction.known == (False, True, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "sentence is empty"),
        ("  \n", "sentence is empty"),
        ("good " * 1000, "at most 200 words, not 1000"),
        ("zebras xylophones", "none of these words"),
    ],
)
def test_unclassifiable_text_is_an_error(text: str, said: str) -> None:
    with pytest.raises(SentenceError, match=said):
        classify(Classifier(vocabulary(), Module()), text)


def colours(reader: Reader) -> list[str]:
    found = "[...document.querySelectorAll('.mt-words .word')].map(w => w.getAttribute('style'))"
    return list(json.loads(str(reader.page.value(f"JSON.stringify({found})"))))


def test_the_page_shows_the_influence_of_words(reader: Reader) -> None:
    reader.open("words")
    learnt, _ = divided()
    reader.sees(f"press Learn to train one on {len(learnt):,} sentences")
    for text, _ in learnt[:3]:
        reader.sees(text, "table")
    reader.press("Learn")
    reader.sees("ended")
    reader.sees("held-out sentences")
    assert float(reader.metric("blame").rstrip("%")) > 50
    assert "#d1622b" in colours(reader)[3]
    reader.write("sentence", "the music is wonderful")
    reader.sees("wonderful", ".mt-words")
    assert float(reader.metric("praise").rstrip("%")) > 50
    assert "#3b82c4" in colours(reader)[3]
    reader.write("sentence", "xylophones <b>")
    reader.sees("knows none of these words")
    reader.write("sentence", "good " * 300)
    reader.sees("at most 200 words, not 300")
    reader.press("her acting was never dull")
    reader.sees("never", ".mt-words")
    assert answers(reader.address)


def test_a_reader_names_a_folder_without_a_training(reader: Reader) -> None:
    reader.open("words")
    reader.press("saved by mt-train")
    reader.write("folder of the training", "/nowhere")
    reader.sees("/nowhere is not the folder of a training")
    reader.write("folder of the training", "~unknown-here/runs")
    reader.sees("~unknown-here/runs has an unknown home directory")
