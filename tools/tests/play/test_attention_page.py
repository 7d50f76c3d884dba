"""The attention page draws the weights of the layers, and a transformer learns to attend."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from play.attention import (
    HEADS,
    LAYERS,
    TASKS,
    Progress,
    Rewriter,
    WordError,
    as_letters,
    learn,
    read_word,
    rewrite,
    untrained,
)
from play.heat import draw_heat
from play.testing import Reader, answers, wait_for


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("reverse it", lambda word: word[::-1]),
        ("move each letter on", lambda word: word[-1] + word[:-1]),
        ("sort its letters", lambda word: "".join(sorted(word))),
    ],
)
@given(st.text("abcxyz", min_size=2, max_size=12))
def test_the_tasks(task: str, expected: Callable[[str], str], word: str) -> None:
    assert as_letters(TASKS[task](read_word(word)[None])[0]) == expected(word)


@pytest.mark.parametrize("text", [" Word ", "ab", "abcdefghijkl"])
def test_words_are_read(text: str) -> None:
    assert as_letters(read_word(text)) == text.strip().lower()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this one has 0"),
        (" a ", "this one has 1"),
        ("m" * 100_000, "this one has 100000"),
        ("two words", "found ' '"),
        ("größe", "found 'ß'"),
        ("<b>", "found '<'"),
    ],
)
def test_an_invalid_word_is_an_error(text: str, said: str) -> None:
    with pytest.raises(WordError, match=said):
        read_word(text)


@given(st.text("abcz", min_size=2, max_size=12))
def test_each_letter_gives_away_all_of_its_attention(text: str) -> None:
    mt.manual_seed(1)
    result, weights = rewrite(Rewriter(), read_word(text))
    assert len(result) == len(text)
    assert weights.shape == (LAYERS, HEADS, len(text), len(text))
    assert weights.min() >= 0.0
    np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-5)


def test_an_untrained_network_is_reproducible_and_leaves_the_generator_unchanged() -> None:
    before = mt.get_rng_state()
    untrained.cache_clear()
    one = untrained().state_dict()
    untrained.cache_clear()
    other = untrained().state_dict()
    assert mt.get_rng_state() == before
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_transformer_learns_to_look_at_the_mirrored_letter() -> None:
    reports: list[Progress] = []
    learn("reverse it", reports.append)
    word = read_word("playground")
    result, weights = rewrite(reports[-1].network, word)
    assert result == "dnuorgyalp"
    assert reports[0].right < 0.2
    assert reports[-1].right > 0.95
    mirrored = weights[:, :, np.arange(10), np.arange(10)[::-1]].mean(-1)
    assert mirrored.max() > 0.5
    before = rewrite(reports[0].network, word)[1][:, :, np.arange(10), np.arange(10)[::-1]]
    assert before.mean(-1).max() < 0.3


def test_the_heat_map_has_every_weight() -> None:
    picture = draw_heat(np.array([[0.25, 0.75], [1.0, 0.0]]), "xy", "<a")
    assert picture.count("<rect") == 4
    assert picture.count('class="token"') == 4
    assert "position 1 gives 0.750 to a, at position 2" in picture
    assert picture.count('class="weight"') == 3
    assert ">&lt;</text>" in picture


def heat(reader: Reader) -> str:
    return reader.picture("Attention weights of each letter")


def test_a_reader_lets_it_learn_and_looks_at_heads(reader: Reader) -> None:
    reader.open("attention")
    reader.sees("The network is untrained")
    before = heat(reader)
    reader.write("word", "stage")
    reader.reads("correct", "egats")
    wait_for(lambda: heat(reader).count("<rect") == 25, "a map of five letters")
    reader.press("Learn")
    reader.reads("prediction", "egats")
    reader.press("Stop")
    wait_for(lambda: heat(reader) != before, "another map")
    reader.sees("waiting")
    after = heat(reader)
    reader.press("2")
    reader.sees("Layer 2, head 1")
    wait_for(lambda: heat(reader) != after, "the map of another layer")
    reader.choose("task: take a word and", "sort its letters")
    reader.reads("correct", "aegst")
    reader.sees("The network is untrained")


def test_the_page_reports_an_invalid_word(reader: Reader) -> None:
    reader.open("attention")
    for text, said in (("a", "this one has 1"), ("no <b>!", "found")):
        reader.write("word", text)
        reader.sees(said)
    reader.write("word", "again")
    reader.reads("correct", "niaga")
    assert answers(reader.address)
